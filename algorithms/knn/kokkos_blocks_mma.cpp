// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/knn/kokkos_part.hpp"
#include "algorithms/knn/mma.hpp"

namespace league::knn::kokkos_model {
namespace {

using Unit = blocks::mma::Native<blocks::mma::Element::s8>;
/// 256 x 128 products for 256 threads; on a host, 16 x 16 for one.
constexpr int across = Unit::lanes == 1 ? 1 : 64 / Unit::lanes;
using Tile = std::conditional_t<Unit::lanes == 1, blocks::UnitTile<Unit, 1, 1, 1, 1, 0>,
                                blocks::UnitTile<Unit, 4, across, 4, 8 / across, 3>>;
using OfTeam = MmaTeam<Tile>;

/// The threads of a team; one alone has nobody to wait for.
template <class Member>
KOKKOS_FUNCTION auto threads_of(const Member& team) {
  if constexpr (OfTeam::alone)
    return blocks::one_thread;
  else
    return blocks::group_of(team.team_rank(), Tile::threads, [&team] { team.team_barrier(); });
}

// A team takes a tile of queries and a chunk of training rows, tile by tile; a subgroup some products [16 x 16]. Keys
// within reach of their query are rare: threads push them to a pool in scratch, and the query's own thread inserts
// them.
void select(const Exec& exec, Launch launch, const MmaWork<Unit>& work) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<Tile::threads, 1>>;
  using Member = typename Policy::member_type;
  Policy policy(exec, launch.league, launch.team, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(OfTeam::scratch_bytes + 16));
  Kokkos::parallel_for(
      "knn/mma", policy, KOKKOS_LAMBDA(const Member& team) {
        constexpr int slots = OfTeam::slots;
        const auto group = threads_of(team);
        void* scratch = team.team_scratch(0).get_shmem_aligned(std::size_t{OfTeam::scratch_bytes}, 16);
        auto* stages = static_cast<Unit::Word*>(scratch);
        int* reach = static_cast<int*>(scratch) + Tile::scratch_bytes / 4;
        int* places = reach + Tile::rows;
        int* keys = places + slots;
        int* pushed = keys + slots;  // two counters: one is read while the other is cleared
        const int tiles = work.tiles(), items = tiles * work.chunks();
        int round = 0;  // and counter
        if (group.rank == 0) pushed[0] = pushed[1] = 0;

        for (int item = team.league_rank(); item < items; item += team.league_size()) {
          const int queries = item % tiles * Tile::rows, chunk = item / tiles;
          for (int row = group.rank; row < Tile::rows; row += Tile::threads) {
            const bool is_there = queries + row < work.queries;
            reach[row] = is_there ? work.reach[queries + row] : -work.no_row;
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
            for (bool more = true; more; round ^= 1) {
              values.for_runs(group.rank, [&](int row, int column, int* products) {
                const int* norms = work.norms + first + column;
                const int within = reach[row];
                int any = 0;
                for (int i = 0; i < Unit::run; ++i) any |= norms[i] - 2 * products[i] <= within;
                if (any == 0) return;
                for (int i = 0; i < Unit::run; ++i) {
                  const int key = norms[i] - 2 * products[i];
                  const int slot = key <= within ? Kokkos::atomic_fetch_add(&pushed[round], 1) : slots;
                  if (slot >= slots) continue;
                  places[slot] = row * Tile::columns + column + i;
                  keys[slot] = key;
                  products[i] = work.gone;
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
                reach[row] = Kokkos::min(reach[row], list.reach());
              }
              more = count > slots;
              if (more) group.barrier();
            }
          }
          for (int row = group.rank; row < Tile::rows && queries + row < work.queries; row += Tile::threads)
            Kokkos::atomic_min(work.reach + queries + row, reach[row]);
          group.barrier();
        }
      });
}

// A team takes 16 rows, a subgroup every so many steps of their depth, a lane its part of a piece; norms are added on
// the way. Rows that are not there are pixels of 128, and their norm `no_row`.
template <class T>
void pack(const Exec& exec, const T* data, std::int64_t n, int features, const blocks::mma::Pieces<Unit>& pieces,
          Unit::Word* packed, int* norms) {
  constexpr int threads = OfTeam::alone ? 1 : 128;
  using blocks::mma::side;
  const auto groups = pieces.rows / side;
  Team policy(exec, league_of(std::min<std::int64_t>(groups, 1 << 20)), threads, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(side * 4 + 16));
  Kokkos::parallel_for(
      "knn/pack", policy, KOKKOS_LAMBDA(const Member& team) {
        auto* sums = static_cast<int*>(team.team_scratch(0).get_shmem_aligned(side * sizeof(int), 16));
        for (std::int64_t number = team.league_rank(); number < groups; number += team.league_size()) {
          for (int row = team.team_rank(); row < side; row += threads) sums[row] = 0;
          team.team_barrier();
          const std::int64_t first = number * side;
          const int lane = team.team_rank() % Unit::lanes;
          int here[Unit::lane_rows] = {};  // threads are whole subgroups: a lane keeps its rows
          for (int part = team.team_rank(); part < pieces.steps * Unit::lanes; part += threads)
            pack_part<Unit>(data, n, features, pieces, first, part / Unit::lanes, lane, packed, here);
          for (int i = 0; i < Unit::lane_rows; ++i) Kokkos::atomic_add(&sums[Unit::word_of(lane, i).row], here[i]);
          team.team_barrier();
          for (int row = team.team_rank(); row < side; row += threads)
            if (norms != nullptr) norms[first + row] = first + row < n ? sums[row] : MmaWork<Unit>::no_row;
          team.team_barrier();
        }
      });
}

// A thread takes a query.
void merge(const Exec& exec, const MmaWork<Unit>& work, std::int64_t* neighbours, double* distances) {
  const int threads = OfTeam::alone ? 1 : 128;
  Kokkos::parallel_for(
      "knn/merge", Team(exec, league_of(ceil_div<std::int64_t>(work.queries, threads)), threads, 1),
      KOKKOS_LAMBDA(const Member& team) {
        const std::int64_t stride = std::int64_t{team.league_size()} * team.team_size();
        for (std::int64_t query = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
             query < work.queries; query += stride)
          work.merge(query, {distances + query * work.k, neighbours + query * work.k, work.k, 1});
      });
}

template <class T>
class Mma final : public Part {
 public:
  Mma(const Knn& problem, const Context& context, const Shard& shard)
      : Part(context, shard), exec_(kokkos::instance(runtime(), queue())), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    launch_ = memory_.configure(*this, launch, kokkos::limits(queue()));
    kokkos::require_scratch(OfTeam::scratch_bytes + 16, "the tile of this kernel");
    return launch_;
  }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    const int features = static_cast<int>(knn.features);
    stages.stage(queue(), "pack", [&] {
      pack(exec_, knn.train.data(), knn.n, features, memory_.train_pieces, memory_.train.data(),
           memory_.train_norms.data());
      pack(exec_, knn.test.data(), knn.m, features, memory_.test_pieces, memory_.test.data(), nullptr);
    });
    stages.stage(queue(), "mma", [&] {
      Kokkos::deep_copy(exec_, memory_.reach.view(), work.unlimited);
      select(exec_, launch_, work);
    });
    stages.stage(queue(), "merge", [&] { merge(exec_, work, knn.neighbours.data(), knn.distances.data()); });
    stages.stage(queue(), "vote", [&] { vote_all(exec_, knn); });
  }

 private:
  const Exec& exec_;
  Launch launch_;
  MmaMemory<T, Tile, kokkos::Array> memory_;
};

const RegisterSplit<Knn> registered{"mma", kokkos::blocks_model, by_pixel<Mma>};

}  // namespace
}  // namespace league::knn::kokkos_model
