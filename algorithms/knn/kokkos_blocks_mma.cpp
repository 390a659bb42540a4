// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/blocks/pieces_kokkos.hpp"
#include "algorithms/knn/kokkos_part.hpp"
#include "algorithms/knn/mma.hpp"

namespace league::knn::kokkos_model {
namespace {

// A team takes a tile of queries and a chunk of training rows, tile by tile; a subgroup some products [16 x 16]. Keys
// within reach of their query are rare: threads push them to a pool in scratch, and the query's own thread inserts
// them.
template <class Unit>
void select(const Exec& exec, Launch launch, const MmaWork<Unit>& work) {
  using Tile = MmaTile<Unit>;
  using OfTeam = MmaTeam<Tile>;
  using Key = typename Unit::Sum;
  using Limits = KeyLimits<Key>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<Tile::threads, 1>>;
  using Member = typename Policy::member_type;
  Policy policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(OfTeam::scratch_bytes + 16));
  Kokkos::parallel_for(
      "knn/mma", policy, KOKKOS_LAMBDA(const Member& team) {
        constexpr int slots = OfTeam::slots;
        const auto group = blocks::threads_of<Tile::threads>(team);
        auto* scratch = static_cast<int*>(
            team.team_scratch(0).get_shmem_aligned(static_cast<std::size_t>(OfTeam::scratch_bytes), 16));
        auto* stages = reinterpret_cast<typename Unit::Word*>(scratch);
        auto* reach = reinterpret_cast<Key*>(scratch + Tile::scratch_bytes / 4);
        auto* keys = reach + Tile::rows;
        int* places = reinterpret_cast<int*>(keys + slots);
        int* pushed = places + slots;  // two counters: one is read while the other is cleared
        const int tiles = work.tiles(), items = tiles * work.chunks();
        int round = 0;  // and counter
        if (group.rank == 0) pushed[0] = pushed[1] = 0;

        for (int item = team.league_rank(); item < items; item += team.league_size()) {
          const int queries = item % tiles * Tile::rows, chunk = item / tiles;
          for (int row = group.rank; row < Tile::rows; row += Tile::threads) {
            const bool is_there = queries + row < work.queries;
            reach[row] = is_there ? Limits::from_ordered(work.reach[queries + row]) : Limits::nothing();
            if (is_there) work.list(chunk, queries + row).clear();
          }
          group.barrier();
          int first = chunk * work.chunk;
          blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
              group, stages, work.test + work.test_pieces.step(queries, 0),
              work.train + work.train_pieces.step(first, 0), work.train_pieces.steps, work.tiles_of(chunk));
          for (int left = work.tiles_of(chunk); left > 0; --left, first += Tile::columns) {
            blocks::TileSums<Tile> sums;
            pipeline.next(sums);
            blocks::TileValues<Tile> values(sums);
            // The thread's number once more: addresses made of it must not take registers while products are added.
            const int thread = group.rank - (first >> 31);
            for (bool more = true; more; round ^= 1) {
              values.for_runs(thread, [&](int row, int column, Key* products) {
                const Key* norms = work.norms + first + column;
                const Key within = reach[row];
                int any = 0;
                for (int i = 0; i < Unit::run; ++i) any |= norms[i] - 2 * products[i] <= within;
                if (any == 0) return;
                for (int i = 0; i < Unit::run; ++i) {
                  const Key key = norms[i] - 2 * products[i];
                  const int slot = key <= within ? Kokkos::atomic_fetch_add(&pushed[round], 1) : slots;
                  if (slot >= slots) continue;
                  keys[slot] = key;
                  places[slot] = row * Tile::columns + column + i;
                  products[i] = Limits::gone();
                }
              });
              group.barrier();
              const int count = pushed[round];
              if (group.rank == 0) pushed[round ^ 1] = 0;
              for (int slot = 0; slot < (count < slots ? count : slots); ++slot) {
                const int row = places[slot] / Tile::columns;
                if (row % Tile::threads != group.rank) continue;
                const auto list = work.list(chunk, queries + row);
                list.insert(keys[slot], first + places[slot] % Tile::columns);
                reach[row] = Kokkos::min(reach[row], work.reach_of(list, queries + row));
              }
              more = count > slots;
              if (more) group.barrier();
            }
          }
          for (int row = group.rank; row < Tile::rows && queries + row < work.queries; row += Tile::threads)
            Kokkos::atomic_min(work.reach + queries + row, Limits::to_ordered(reach[row]));
          group.barrier();
        }
      });
}

// A thread takes an item.
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

// A thread takes a query, its lanes the features.
/// The k best of the candidates, by their distances as differences in double.
struct Refine {
  std::int64_t queries, n;
  int k, kept, features;
  const float *test, *train, *slack;
  const double* keys;
  const std::int64_t* candidates;
  double* distances;
  std::int64_t* neighbours;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(); query < queries;
         query += std::int64_t{team.league_size()} * team.team_size()) {
      const Candidates found(keys + query * kept, candidates + query * kept, k, kept, slack[query], n);
      const blocks::KBest<double, std::int64_t> best{distances + query * k, neighbours + query * k, k, 1};
      Kokkos::single(Kokkos::PerThread(team), [&] { best.clear(); });
      for (std::int64_t i = 0; i < found.count && found.reaches(i); ++i) {
        const float *x = test + query * features, *y = train + found.row(i) * features;
        double squared = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, features),
            [&](int f, double& sum) {
              const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
              sum += difference * difference;
            },
            squared);
        Kokkos::single(Kokkos::PerThread(team), [&] { best.insert(squared, found.row(i)); });
      }
    }
  }
};

/// The centre that rounding starts from.
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

/// What rounding may have made of the keys.
template <class Memory>
void allow(const Exec& exec, const Memory& memory) {
  const Lengths train = memory.train_rows().lengths, test = memory.test_rows().lengths;
  float* slack = memory.slack.data();
  const int depth = memory.train_pieces.steps * Memory::Unit::depth;
  for_each(
      exec, "knn/slack", memory.knn.m, KOKKOS_LAMBDA(std::int64_t query) {
        slack[query] = slack_of(test.size[query], test.error[query], train.most, depth);
      });
}

template <class Unit>
void merge(const Exec& exec, const MmaWork<Unit>& work, double* keys, std::int64_t* rows) {
  for_each(
      exec, "knn/merge", work.queries, KOKKOS_LAMBDA(std::int64_t query) {
        work.merge(query, {keys + query * work.kept, rows + query * work.kept, work.kept, 1});
      });
}

template <class Memory>
void refine(const Exec& exec, const Memory& memory) {
  const auto& knn = memory.knn;
  const int threads = kokkos::on_gpu ? 8 : 1, lanes = kokkos::on_gpu ? 32 : 1;
  Kokkos::parallel_for("knn/refine", Team(exec, league_of(ceil_div<std::int64_t>(knn.m, threads)), threads, lanes),
                       Refine{knn.m, knn.n, knn.k, memory.kept(), static_cast<int>(knn.features), knn.test.data(),
                              knn.train.data(), memory.slack.data(), memory.candidate_keys.data(),
                              memory.candidates.data(), knn.distances.data(), knn.neighbours.data()});
}

template <class Unit, class T>
class Mma final : public Part {
  using Memory = MmaMemory<Unit, T, kokkos::Array>;
  using Limits = KeyLimits<typename Unit::Sum>;

 public:
  Mma(const Knn& problem, const Context& context, const Shard& shard)
      : Part(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    launch_ = memory_.configure(*this, launch, kokkos::limits(queue()));
    kokkos::require_scratch(MmaTeam<MmaTile<Unit>>::scratch_bytes + 16, "the tile of this kernel");
    return launch_;
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    stages.stage(queue(), "pack", [&] {
      if constexpr (!Memory::exact) measure(exec_, memory_);
      blocks::pack_all(exec_, memory_.train_rows(), memory_.train_pieces, memory_.train.data());
      blocks::pack_all(exec_, memory_.test_rows(), memory_.test_pieces, memory_.test.data());
      if constexpr (!Memory::exact) allow(exec_, memory_);
    });
    stages.stage(queue(), "mma", [&] {
      Kokkos::deep_copy(exec_, memory_.reach.view(), Limits::to_ordered(Limits::unlimited()));
      select(exec_, launch_, work);
    });
    if constexpr (Memory::exact) {
      stages.stage(queue(), "merge", [&] { merge(exec_, work, knn.distances.data(), knn.neighbours.data()); });
    } else {
      stages.stage(queue(), "merge",
                   [&] { merge(exec_, work, memory_.candidate_keys.data(), memory_.candidates.data()); });
      stages.stage(queue(), "refine", [&] { refine(exec_, memory_); });
    }
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  Memory memory_;
};

const RegisterSplit<Knn> registered{"mma", kokkos::blocks_model, by_unit<blocks::mma::Native, Mma>};

}  // namespace
}  // namespace league::knn::kokkos_model
