// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/recomputed.hpp"
#include "algorithms/knn/fused/kokkos_candidates.hpp"

namespace league::knn::kokkos_model {
namespace {

/// Products of the tile of queries from `query0` on, number `t` of the slab, with a panel of training rows; the
/// candidates among them are inserted into the lists of the chunk. @pre the whole team calls
template <class Tile, class Member>
KOKKOS_FORCEINLINE_FUNCTION void take_tile(const Member& team, const Work<Tile>& work,
                                           typename Tile::Operands& operands, const Candidates<Tile>& candidates,
                                           int query0, int t, int panel) {
  constexpr int width = Tile::width;
  typename Tile::Sums sums = {};
  Tile::template add<blocks::ProductTerm, true>(team, operands, work.query_panels.first(query0 / Tile::rows),
                                                work.train_panels.first(panel), work.query_panels.depth, sums);
  const int thread = blocks::recomputed(blocks::rank(team), panel), at = t * Tile::rows;
  float norms[Tile::thread_columns];
  for (int h = 0; h < 2; ++h) {
    const auto pack = work.norms((panel * Tile::columns + Tile::column(thread, h * width)) / width);
    for (int e = 0; e < width; ++e) norms[h * width + e] = pack.values[e];
  }
  for (bool left = true; left;) {
    candidates.push(at, thread, panel * Tile::columns, norms, sums);
    blocks::meet(team);
    left = candidates.overflow();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, Tile::rows), [&](int row) {
      if (candidates.has_any(at + row)) candidates.insert(at + row, work, work.list(panel / work.chunk, query0 + row));
    });
    if (!left) break;
    blocks::meet(team);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1), [&](int) { candidates.again(); });
    blocks::meet(team);
  }
}

/// A slab of tiles of queries and a chunk of training rows, panel by panel. @pre the whole team calls
template <class Tile, class Member>
KOKKOS_FORCEINLINE_FUNCTION void take_item(const Member& team, const Work<Tile>& work,
                                           typename Tile::Operands& operands, const Candidates<Tile>& candidates,
                                           int query0, int chunk) {
  constexpr int slab = of_items.slab;
  const int first = chunk * work.chunk, last = first + work.chunk, panels = work.train_panels.panels;
  const auto each_query = [&](const auto& body) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, work.slab * Tile::rows), [&](int at) {
      if (query0 + at < work.count) body(at, query0 + at);
    });
  };
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, slab * Tile::rows),
                       [&](int at) { candidates.begin(at, KeyLimits<float>::nothing()); });
  each_query([&](int at, int query) {
    candidates.begin(at, from_ordered(work.threshold(query)));
    work.list(chunk, query).clear();
  });
  for (int panel = first; panel < (last < panels ? last : panels); ++panel)
    for (int t = 0; t < slab && t < work.slab && query0 + t * Tile::rows < work.count; ++t)
      take_tile<Tile>(team, work, operands, candidates, query0 + t * Tile::rows, t, panel);
  each_query([&](int at, int query) { Kokkos::atomic_min(&work.threshold(query), ordered(candidates.within(at))); });
}

// A team takes one work item after another.
template <class Tile>
void fused(const Exec& exec, Launch launch, const Work<Tile>& work) {
  using Bounds = Kokkos::LaunchBounds<Tile::threads, kokkos::launch_bound(Tile::numbers.teams)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>, Bounds>;
  const std::size_t bytes = Tile::Operands::scratch_bytes() + Candidates<Tile>::scratch_bytes();
  const int slabs = work.slabs(), items = slabs * work.chunks();
  Kokkos::parallel_for(
      "knn/fused", Policy(exec, launch.league, launch.team, launch.vector).set_scratch_size(0, Kokkos::PerTeam(bytes)),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        typename Tile::Operands operands(team, work.queries, work.train);
        const Candidates<Tile> candidates(team, operands);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1), [&](int) { candidates.again(); });
        const auto mine =
            blocks::share(static_cast<int>(team.league_rank()), static_cast<int>(team.league_size()), items);
        for (int item = mine.first; item < mine.end; item += mine.stride)
          take_item<Tile>(team, work, operands, candidates, item % slabs * work.slab * Tile::rows, item / slabs);
      });
}

// A team takes `tile` queries, a lane every slices-th list of one, which it merges into its first, in place; then one
// lane takes these.
template <class Tile>
void merge(const Exec& exec, const Work<Tile>& work, const Vector<std::int64_t>& neighbours,
           const Vector<double>& distances) {
  constexpr int together = of_merge.tile;
  const int slices = std::min(of_merge.depth, merge_slices(work.count, work.k)), chunks = work.chunks();
  const int team_size = std::min(of_merge.team, together * slices);
  Kokkos::parallel_for(
      "knn/merge", Team(exec, ceil_div(work.count, together), team_size, 1), KOKKOS_LAMBDA(const Member& team) {
        const int first = static_cast<int>(team.league_rank()) * together;
        const auto within = [&](int query) {  // + 1: the threshold was rounded to float
          return static_cast<double>(from_ordered(work.threshold(query) + 1));
        };
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, together * slices), [&](int i) {
          const int query = first + i % together, slice = i / together;
          const auto list_of = [&](int chunk) { return work.list(chunk, query); };
          if (query < work.count && slice < chunks)
            insert_lists(slice + slices, chunks, slices, within(query), list_of, list_of(slice));
        });
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, together), [&](int i) {
          const int query = first + i;
          if (query >= work.count) return;
          const List<std::int64_t> best{{distances, query * work.k}, {neighbours, query * work.k}, work.k, 1};
          const auto list_of = [&](int chunk) { return work.list(chunk, query); };
          const auto nearest = list_of(0);
          for (int entry = 0; entry < work.k; ++entry) {
            best.keys[entry] = nearest.keys[entry * nearest.stride];
            best.indices[entry] = nearest.indices[entry * nearest.stride];
          }
          insert_lists(1, slices < chunks ? slices : chunks, 1, within(query), list_of, best);
        });
      });
}

template <class T, class Element>
class Fused final : public IndependentShard {
 public:
  Fused(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), knn_(*this, problem) {
    declare(queries_, "knn/packed_test", std::max(queries<LargeTile>().size(), queries<SmallTile>().size()));
    declare(train_, "knn/packed_train", std::max(train<LargeTile>().size(), train<SmallTile>().size()));
    declare(norms_, "knn/train_norms", padded_rows());
    declare(threshold_, "knn/threshold", knn_.m);
  }
  [[nodiscard]] bool submits_in_parallel() const override { return true; }
  /// Whole panels of training rows in a chunk. @throws Unsupported for a team size without a tile
  Launch configure(Launch launch) override {
    const int at_once =
        std::max(1, blocks::lanes_at_once(exec_, LargeTile::numbers, LargeTile::threads) / LargeTile::threads);
    const int chunk = default_chunk(knn_.k, knn_.n, knn_.m, knn_.features, std::max(1, at_once * of_items.depth / 2),
                                    of_items.tile, LargeTile::rows);
    launch = resolve(launch, {0, LargeTile::threads, 1, chunk}, kokkos::limits(queue()));
    if (launch.vector != 1)
      throw Unsupported("vector length " + std::to_string(launch.vector) +
                        ": each thread of this kernel keeps its own sums, it takes 1");
    if (launch.team != LargeTile::threads && launch.team != SmallTile::threads)
      throw Unsupported("team size " + std::to_string(launch.team) + ": this kernel has tiles for " +
                        std::to_string(SmallTile::threads) + " and " + std::to_string(LargeTile::threads));
    launch_ = launch;
    with_tile([&]<class Tile>() { configure_items<Tile>(at_once); });
    return launch_;
  }
  void compute(Stages& stages) override {
    with_tile([&]<class Tile>() { compute_by<Tile>(stages); });
  }

 private:
  template <class Tile>
  [[nodiscard]] typename Tile::RowPanels queries() const {
    return {knn_.m, knn_.features, Tile::step};
  }
  template <class Tile>
  [[nodiscard]] typename Tile::ColumnPanels train() const {
    return {knn_.n, knn_.features, Tile::step};
  }
  [[nodiscard]] std::int64_t padded_rows() const {
    return std::int64_t{train<LargeTile>().panels} * LargeTile::columns;
  }
  template <class Body>
  void with_tile(const Body& body) const {
    if (launch_.team == LargeTile::threads)
      body.template operator()<LargeTile>();
    else
      body.template operator()<SmallTile>();
  }
  /// Rounds the chunk, and sets the size of slabs, so that there are items for all teams `at_once`, and the league.
  template <class Tile>
  void configure_items(int at_once) {
    constexpr int enough = 4;
    const int rows = train<Tile>().panels * Tile::columns;
    const int panels = ceil_div(std::min(launch_.tile, rows), Tile::columns);
    const std::int64_t tiles = queries<Tile>().panels, chunks = ceil_div(train<Tile>().panels, panels);
    launch_.tile = panels * Tile::columns;
    slab_ = static_cast<int>(std::clamp<std::int64_t>(tiles * chunks / (enough * at_once), 1, of_items.slab));
    const std::int64_t items = ceil_div<std::int64_t>(tiles, slab_) * chunks;
    if (items > max_league)
      throw Unsupported(std::to_string(items) + " work items: this kernel counts up to " + std::to_string(max_league) +
                        "; take a larger tile");
    if (launch_.league == 0) launch_.league = league_of(items);
    declare(keys_, "knn/keys", chunks * tiles * knn_.k * Tile::rows);
    declare(indices_, "knn/indices", chunks * tiles * knn_.k * Tile::rows);
  }
  template <class Tile>
  [[nodiscard]] Work<Tile> work() const {
    constexpr int width = Tile::width;
    return {queries<Tile>(),
            train<Tile>(),
            blocks::packs<Tile::row_width>(Vector<const float>(queries_.view())),
            blocks::packs<width>(Vector<const float>(train_.view())),
            blocks::packs<width>(Vector<const float>(norms_.view())),
            threshold_.view(),
            keys_.view(),
            indices_.view(),
            static_cast<int>(knn_.m),
            knn_.k,
            slab_,
            launch_.tile / Tile::columns};
  }
  template <class Tile>
  void compute_by(Stages& stages) const {
    const auto all = work<Tile>();
    stages.stage(queue(), "pack", [&] {
      const auto n = static_cast<int>(knn_.n), features = static_cast<int>(knn_.features);
      const Vector<const T> rows = knn_.train.view(), test = knn_.test.view();
      blocks::lay_out(exec_, rows, n, features, all.train_panels, train_.view(), Widen<Element>());
      blocks::lay_out(exec_, test, all.count, features, all.query_panels, queries_.view(), Widen<Element>());
      square_norms(exec_, n, all.train_panels, all.train, norms_.view());
    });
    stages.stage(queue(), "fused", [&] {
      Kokkos::deep_copy(exec_, threshold_.view(), unlimited);
      fused(exec_, launch_, all);
    });
    stages.stage(queue(), "merge", [&] { merge(exec_, all, knn_.neighbours.view(), knn_.distances.view()); });
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn_); });
  }

  const Exec& exec_;
  Launch launch_;
  int slab_ = 1;
  Memory<T, kokkos::Array> knn_;
  kokkos::Array<float> queries_, train_, norms_;
  kokkos::Array<std::int32_t> threshold_, indices_;
  kokkos::Array<double> keys_;
};

const RegisterSplit<Knn> fused_variant{
    "fused",
    written_once<float, std::int32_t, std::uint8_t>(kokkos::model,
                                                    []<class T>(Of<T>) { return blocks::named(LargeTile::numbers); }),
    by_element<Fused>};

}  // namespace
}  // namespace league::knn::kokkos_model
