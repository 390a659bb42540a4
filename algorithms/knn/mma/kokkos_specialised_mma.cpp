// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/blocks/pieces_native_kokkos.hpp"
#include "algorithms/knn/common/mma.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "algorithms/knn/mma/kokkos_specialised.hpp"

namespace league::knn::kokkos_specialised_model {
namespace {

template <class Tile>
using TilePolicy =
    Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<Tile::threads, mma_teams>>;
template <class Tile>
TilePolicy<Tile> tile_policy(const Exec& exec, int league) {
  TilePolicy<Tile> policy(exec, league, Tile::threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(MmaTeam<Tile>::scratch_bytes + 16));
  return policy;
}
template <class Tile, class TeamMember>
KOKKOS_FUNCTION MmaTeam<Tile> scratch_of(const TeamMember& team) {
  return MmaTeam<Tile>(kokkos::aligned_scratch<void>(team, static_cast<std::size_t>(MmaTeam<Tile>::scratch_bytes)));
}

// A team takes a tile of queries and a chunk of the training rows, tile by tile; a subgroup some products [16 x 16].
/// The smallest candidate of each group of sampled rows.
template <class Tile>
void sample_products(const Exec& exec, const MmaWork<Tile>& work) {
  using Key = typename Tile::Sum;
  using TeamMember = typename TilePolicy<Tile>::member_type;
  Kokkos::parallel_for(
      "knn/sample", tile_policy<Tile>(exec, league_of(work.items(work.samples))),
      KOKKOS_LAMBDA(const TeamMember& member) {
        const auto team = scratch_of<Tile>(member);
        const auto group = blocks::native_threads_of<Tile::threads>(member);
        for (int item = member.league_rank(); item < work.items(work.samples); item += member.league_size()) {
          const int queries = item % work.query_tiles() * Tile::rows, first = item / work.query_tiles() * work.chunk;
          const int end = Kokkos::min(first + work.chunk, work.samples);
          blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
              group, team.stages, work.test_at(queries), work.train_at(first), work.train_pieces.steps, end - first);
          for (int tile = first; tile < end; ++tile) {
            blocks::TileSums<Tile> sums;
            pipeline.next(sums);
            const int thread =
                group.rank -
                (tile >> 31);  // opaque copy: addresses are computed after the products (register pressure)
            const int number = tile * Tile::row_threads + Tile::place_in_row(thread);
            Key norms[Tile::row_values];
            for (int i = 0; i < Tile::row_values; ++i) norms[i] = work.norm(tile, Tile::column(thread, i));
            blocks::TileValues<Tile>(sums).for_rows(thread, [&](int row, const Key* products) {
              Candidate smallest = no_candidate;
              for (int i = 0; i < Tile::row_values; ++i)
                smallest = lesser(smallest, work.candidate(tile, Tile::column(thread, i), norms[i] - 2 * products[i]));
              work.minima[std::int64_t{queries + row} * work.groups + number] = smallest;
            });
          }
          group.barrier();
        }
      });
}

// Candidates are rare: threads push them to a pool in scratch, which all threads flush when it is half full.
/// Appends all candidates within the threshold to the lists.
template <class Tile>
void collect_products(const Exec& exec, int league, const MmaWork<Tile>& work) {
  using Key = typename Tile::Sum;
  using Limits = KeyLimits<Key>;
  using TeamMember = typename TilePolicy<Tile>::member_type;
  Kokkos::parallel_for(
      "knn/mma", tile_policy<Tile>(exec, league), KOKKOS_LAMBDA(const TeamMember& member) {
        constexpr int slots = MmaTeam<Tile>::slots;
        const auto team = scratch_of<Tile>(member);
        const auto group = blocks::native_threads_of<Tile::threads>(member);
        const auto take = [](int* counter) { return NativeAtomics::add(counter, 1); };
        int round = 0;  // selects the counter: one is read while the other is cleared
        if (group.rank == 0) team.pushed[0] = team.pushed[1] = 0;
        for (int item = member.league_rank(); item < work.items(work.tiles()); item += member.league_size()) {
          const int queries = item % work.query_tiles() * Tile::rows, first = item / work.query_tiles() * work.chunk;
          const int end = Kokkos::min(first + work.chunk, work.tiles());
          for (int row = group.rank; row < Tile::rows; row += Tile::threads)
            team.threshold[row] = key_of<Key>(work.threshold[queries + row]);
          blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
              group, team.stages, work.test_at(queries), work.train_at(first), work.train_pieces.steps, end - first);
          for (int tile = first; tile < end; ++tile) {
            blocks::TileSums<Tile> sums;
            pipeline.next(sums);
            const int thread =
                group.rank -
                (tile >> 31);  // opaque copy: addresses are computed after the products (register pressure)
            Key norms[Tile::row_values];
            for (int i = 0; i < Tile::row_values; ++i) norms[i] = work.norm(tile, Tile::column(thread, i));
            blocks::TileValues<Tile>(sums).for_rows(thread, [&](int row, const Key* products) {
              const Key within = team.threshold[row];
              Key smallest = Limits::unlimited();
              for (int i = 0; i < Tile::row_values; ++i) smallest = lesser(smallest, norms[i] - 2 * products[i]);
              if (!Tile::Unit::any(smallest <= within))
                return;  // the same for all lanes: lanes that diverge would stay apart
              unsigned hits = 0;
              for (int i = 0; i < Tile::row_values; ++i) hits |= (norms[i] - 2 * products[i] <= within ? 1U : 0U) << i;
              const bool several = (hits & (hits - 1)) != 0;
              for (; Tile::Unit::any(hits != 0); hits &= hits - 1) {
                if (hits == 0) continue;
                const int at = Kokkos::countr_zero(hits);
                Key key = smallest;
                if (several)
                  blocks::unrolled<Tile::row_values>([&](int i) {  // registers cannot be indexed at run time
                    if (at == i) key = norms[i] - 2 * products[i];
                  });
                const Candidate candidate = work.candidate(tile, Tile::column(thread, at), key);
                if (candidate > work.threshold[queries + row]) continue;
                const int slot = take(team.pushed + round);
                if (slot >= slots) {
                  work.append(queries + row, candidate, take);
                } else {
                  team.pool[slot] = candidate;
                  team.places[slot] = row;
                }
              }
            });
            group.barrier();
            const int pushed = team.pushed[round];
            if (pushed <= slots / 2 && tile + 1 < end) continue;
            for (int slot = group.rank; slot < Kokkos::min(pushed, slots); slot += Tile::threads)
              work.append(queries + team.places[slot], team.pool[slot], take);
            round ^= 1;
            if (group.rank == 0) team.pushed[round] = 0;
          }
        }
      });
}

// A thread takes one item.
template <class Body>
void for_each(const Exec& exec, const char* label, std::int64_t count, const Body& body) {
  const int threads = kokkos::on_gpu ? 128 : 1;
  Kokkos::parallel_for(
      label, Team(exec, league_of(ceil_div<std::int64_t>(count, threads)), threads, 1),
      KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t stride = std::int64_t{team.league_size()} * team.team_size();
        for (std::int64_t i = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(); i < count;
             i += stride)
          body(i);
      });
}

/// The centre that is subtracted before rounding.
template <class Memory>
void measure(const Exec& exec, Memory& memory) {
  memory.lengths.clear();
  const float* data = memory.knn.train.data();
  float *centre = memory.centre.data(), *widest = memory.widest();
  const std::int64_t n = memory.knn.n;
  const int features = static_cast<int>(memory.knn.features);
  for_each(
      exec, "knn/centre", features, KOKKOS_LAMBDA(std::int64_t f) {
        const auto peak = [](std::int32_t* to, std::int32_t value) { Kokkos::atomic_max(to, value); };
        centre[f] = centre_of(data, n, features, static_cast<int>(f), widest, peak);
      });
}

/// Error bound of the keys.
template <class Memory>
void allow(const Exec& exec, const Memory& memory) {
  const Lengths train = memory.train_lengths(), test = memory.test_lengths();
  float* slack = memory.slack.data();
  const int depth = memory.train_pieces.steps * Memory::Unit::depth;
  for_each(
      exec, "knn/slack", memory.knn.m, KOKKOS_LAMBDA(std::int64_t query) {
        slack[query] = slack_of(test.size[query], test.error[query], train.largest, depth);
      });
}

template <class T>
void vote(const Exec& exec, std::int64_t queries, const NearestRows<T>& rows) {
  for_each(exec, "knn/vote", queries, KOKKOS_LAMBDA(std::int64_t query) { rows.vote(query); });
}

template <class Unit, class T>
class Mma final : public IndependentShard {
  using Memory = MmaMemory<MmaTile<Unit>, T, kokkos::Array>;

 public:
  Mma(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    launch_ = memory_.configure(launch, kokkos::limits(queue()));
    kokkos::require_scratch(MmaTeam<typename Memory::Tile>::scratch_bytes + 16, "the tile of this kernel");
    return launch_;
  }
  [[nodiscard]] bool submits_in_parallel() const override { return true; }
  void compute(Stages& stages) override {
    const auto work = memory_.work(launch_.tile / Memory::Tile::columns);
    const bool by_teams = kokkos::on_gpu && work.k > passes;
    stages.stage(queue(), "pack", [&] {
      if constexpr (!Memory::exact) measure(exec_, memory_);
      blocks::pack_all(exec_, memory_.train_rows(), memory_.train_pieces, memory_.train.data());
      blocks::pack_all(exec_, memory_.test_rows(), memory_.test_pieces, memory_.test.data());
      if constexpr (!Memory::exact) allow(exec_, memory_);
    });
    stages.stage(queue(), "sample", [&] {
      memory_.counts.clear();
      sample_products(exec_, memory_.work(Memory::sampled_chunk));
      if (by_teams)
        for_teams<SelectScratch>(exec_, "knn/threshold", work.test_pieces.rows,
                                 ChooseThreshold<typename Memory::Tile>{work});
      else
        choose_threshold_by_subgroups(exec_, work);
    });
    stages.stage(queue(), "mma", [&] { collect_products(exec_, launch_.league, work); });
    if (by_teams) {
      stages.stage(queue(), "select", [&] {
        for_teams<MmaSelectScratch>(exec_, "knn/nearest", work.queries,
                                    ChooseAndVote<typename Memory::Tile, T>{work, memory_.nearest()});
      });
      return;
    }
    stages.stage(queue(), "select", [&] { choose_nearest_by_subgroups(exec_, work, memory_.nearest()); });
    stages.stage(queue(), "vote", [&] { vote(exec_, work.queries, memory_.nearest()); });
  }
  Counts counts() override { return memory_.counted(queue()); }

 private:
  const Exec& exec_;
  Launch launch_;
  Memory memory_;
};

const RegisterSplit<Knn> mma_variant{"mma", kokkos::specialised_model, by_unit<blocks::mma::Native, Mma>};

}  // namespace
}  // namespace league::knn::kokkos_specialised_model
