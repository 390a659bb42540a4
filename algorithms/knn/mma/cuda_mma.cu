// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/knn/common/cuda_mma.hpp"

namespace league::knn::cuda_model {
namespace {

/// 128 x 128 products as in `mma`, with three times the stages (more than 48 KB of shared memory, opt-in) and one
/// barrier per two steps.
template <class Unit, int across = 64 / Unit::lanes>
using LargeTile = blocks::UnitTile<Unit, 2, across, 4, 8 / across, 12, 2>;
template <class Tile>
inline constexpr bool is_large = MmaTeam<Tile>::scratch_bytes > 48 * 1024;
/// Dynamic shared memory.
template <class Tile>
inline constexpr int dynamic_bytes = is_large<Tile> ? MmaTeam<Tile>::scratch_bytes : 0;

// A block takes a tile of queries and a chunk of the training rows, tile by tile; a warp some products [16 x 16].
/// The smallest candidate of each group of sampled rows.
template <class Tile>
__global__ void __launch_bounds__(Tile::threads, cuda::launch_bound(mma_teams))
    sample_products(const MmaWork<Tile> work) {
  using Team = MmaTeam<Tile>;
  using Key = typename Tile::Sum;
  extern __shared__ __align__(16) char dynamic[];
  alignas(16) __shared__ char fixed[is_large<Tile> ? 16 : Team::scratch_bytes];
  const Team team(is_large<Tile> ? dynamic : fixed);
  const auto group = blocks::block_group();
  for (int item = blockIdx.x; item < work.items(work.samples); item += gridDim.x) {
    const int queries = item % work.query_tiles() * Tile::rows, first = item / work.query_tiles() * work.chunk;
    const int end = min(first + work.chunk, work.samples);
    blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
        group, team.stages, work.test_at(queries), work.train_at(first), work.train_pieces.steps, end - first);
    for (int tile = first; tile < end; ++tile) {
      blocks::TileSums<Tile> sums;
      pipeline.next(sums);
      const int thread =
          group.rank - (tile >> 31);  // opaque copy: addresses are computed after the products (register pressure)
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
}

// Candidates are rare: threads push them to a pool in shared memory, which all threads flush when it is half full.
/// Appends all candidates within the threshold to the lists.
template <class Tile>
__global__ void __launch_bounds__(Tile::threads, cuda::launch_bound(mma_teams))
    collect_products(const MmaWork<Tile> work) {
  using Team = MmaTeam<Tile>;
  using Key = typename Tile::Sum;
  extern __shared__ __align__(16) char dynamic[];
  alignas(16) __shared__ char fixed[is_large<Tile> ? 16 : Team::scratch_bytes];
  const Team team(is_large<Tile> ? dynamic : fixed);
  const auto group = blocks::block_group();
  using Limits = KeyLimits<Key>;
  const auto take = [](int* counter) { return atomicAdd(counter, 1); };
  int round = 0;  // selects the counter: one is read while the other is cleared
  if (group.rank == 0) team.pushed[0] = team.pushed[1] = 0;
  for (int item = blockIdx.x; item < work.items(work.tiles()); item += gridDim.x) {
    const int queries = item % work.query_tiles() * Tile::rows, first = item / work.query_tiles() * work.chunk;
    const int end = min(first + work.chunk, work.tiles());
    for (int row = group.rank; row < Tile::rows; row += Tile::threads)
      team.threshold[row] = key_of<Key>(work.threshold[queries + row]);
    blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
        group, team.stages, work.test_at(queries), work.train_at(first), work.train_pieces.steps, end - first);
    for (int tile = first; tile < end; ++tile) {
      blocks::TileSums<Tile> sums;
      pipeline.next(sums);
      const int thread =
          group.rank - (tile >> 31);  // opaque copy: addresses are computed after the products (register pressure)
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
          const int at = __ffs(static_cast<int>(hits)) - 1;
          Key key = smallest;
          if (several)
            blocks::unrolled<Tile::row_values>([&](int i) {  // registers cannot be indexed at run time
              if (at == i) key = norms[i] - 2 * products[i];
            });
          const Candidate candidate = work.candidate(tile, Tile::column(thread, at), key);
          if (candidate > work.threshold[queries + row]) continue;
          const int slot = take(team.pushed + round);
          if (slot >= Team::slots) {
            work.append(queries + row, candidate, take);
          } else {
            team.pool[slot] = candidate;
            team.places[slot] = row;
          }
        }
      });
      group.barrier();
      const int pushed = team.pushed[round];
      if (pushed <= Team::slots / 2 && tile + 1 < end) continue;
      for (int slot = group.rank; slot < min(pushed, Team::slots); slot += Tile::threads)
        work.append(queries + team.places[slot], team.pool[slot], take);
      round ^= 1;
      if (group.rank == 0) team.pushed[round] = 0;
    }
  }
}

template <class Tile, class T>
class Mma final : public MmaShard<Tile, T> {
 public:
  using MmaShard<Tile, T>::MmaShard;
  Launch configure(Launch launch) override {
    if constexpr (is_large<Tile>) {
      cuda::require_scratch(cuda::properties(this->queue()), dynamic_bytes<Tile>, "the tile of this kernel");
      cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(sample_products<Tile>), dynamic_bytes<Tile>));
      cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(collect_products<Tile>), dynamic_bytes<Tile>));
    }
    return this->launch_ = this->memory_.configure(launch, cuda::limits);
  }

 private:
  void sample() override {
    const MmaWork<Tile> work = this->memory_.work(this->memory_.sampled_chunk);
    sample_products<<<work.items(work.samples), Tile::threads, dynamic_bytes<Tile>, cuda::stream(this->queue())>>>(
        work);
    cuda::check_launch();
  }
  void collect(const MmaWork<Tile>& work) override {
    collect_products<<<this->launch_.league, Tile::threads, dynamic_bytes<Tile>, cuda::stream(this->queue())>>>(work);
    cuda::check_launch();
  }
};
template <class Unit, class T>
using Small = Mma<MmaTile<Unit>, T>;
template <class Unit, class T>
using Large = Mma<LargeTile<Unit>, T>;

using Registered = RegisterSplit<Knn>;
const Registered small{"mma", cuda::model, by_unit<blocks::mma::Native, Small>};
const Registered large{"mma_large", cuda::model, by_unit<blocks::mma::Native, Large>};

}  // namespace
}  // namespace league::knn::cuda_model
