// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/knn/cuda_part.hpp"
#include "algorithms/knn/mma.hpp"

namespace league::knn::cuda_model {
namespace {

using Unit = blocks::mma::Native<blocks::mma::Element::s8>;
/// 256 x 128 products for 256 threads.
constexpr int across = 64 / Unit::lanes;
using Tile = blocks::UnitTile<Unit, 4, across, 4, 8 / across, 3>;
using OfTeam = MmaTeam<Tile>;

// A block takes a tile of queries and a chunk of training rows, tile by tile; a warp some products [16 x 16]. Keys
// within reach of their query are rare: threads push them to a pool in shared memory, and the query's own thread
// inserts them.
__global__ void __launch_bounds__(Tile::threads, 1) select_products(const MmaWork<Unit> work) {
  constexpr int slots = OfTeam::slots;
  alignas(16) __shared__ int scratch[OfTeam::scratch_bytes / 4];
  const auto group = blocks::block_group();
  auto* stages = reinterpret_cast<Unit::Word*>(scratch);
  int* reach = scratch + Tile::scratch_bytes / 4;
  int* places = reach + Tile::rows;
  int* keys = places + slots;
  int* pushed = keys + slots;  // two counters: one is read while the other is cleared
  const int tiles = work.tiles(), items = tiles * work.chunks();
  int round = 0;  // and counter
  if (group.rank == 0) pushed[0] = pushed[1] = 0;

  for (int item = blockIdx.x; item < items; item += gridDim.x) {
    const int queries = item % tiles * Tile::rows, chunk = item / tiles;
    for (int row = group.rank; row < Tile::rows; row += Tile::threads) {
      const bool is_there = queries + row < work.queries;
      reach[row] = is_there ? work.reach[queries + row] : -work.no_row;
      if (is_there) work.list(chunk, queries + row).clear();
    }
    group.barrier();
    int first = chunk * work.chunk;
    blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
        group, stages, work.test + work.test_pieces.step(queries, 0), work.train + work.train_pieces.step(first, 0),
        work.train_pieces.steps, work.tiles_of(chunk));
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
            const int slot = key <= within ? atomicAdd(&pushed[round], 1) : slots;
            if (slot >= slots) continue;
            places[slot] = row * Tile::columns + column + i;
            keys[slot] = key;
            products[i] = work.gone;
          }
        });
        group.barrier();
        const int count = pushed[round];
        if (group.rank == 0) pushed[round ^ 1] = 0;
        for (int slot = 0; slot < min(count, slots); ++slot) {
          const int row = places[slot] / Tile::columns;
          if (row % Tile::threads != group.rank) continue;
          const auto list = work.list(chunk, queries + row);
          list.insert(keys[slot], first + places[slot] % Tile::columns);
          reach[row] = min(reach[row], list.reach());
        }
        more = count > slots;
        if (more) group.barrier();
      }
    }
    for (int row = group.rank; row < Tile::rows && queries + row < work.queries; row += Tile::threads)
      atomicMin(work.reach + queries + row, reach[row]);
    group.barrier();
  }
}

// A block takes 16 rows, a warp every so many steps of their depth, a lane its part of a piece; norms are added on the
// way. Rows that are not there are pixels of 128, and their norm `no_row`.
template <class T>
__global__ void pack(const T* data, std::int64_t n, int features, const blocks::mma::Pieces<Unit> pieces,
                     Unit::Word* packed, int* norms) {
  using blocks::mma::side;
  const int threads = static_cast<int>(blockDim.x), thread = static_cast<int>(threadIdx.x);
  __shared__ int sums[side];
  for (std::int64_t number = blockIdx.x; number < pieces.rows / side; number += gridDim.x) {
    for (int row = thread; row < side; row += threads) sums[row] = 0;
    __syncthreads();
    const std::int64_t first = number * side;
    const int lane = thread % Unit::lanes;
    int here[Unit::lane_rows] = {};  // threads are whole subgroups: a lane keeps its rows
    for (int part = thread; part < pieces.steps * Unit::lanes; part += threads)
      pack_part<Unit>(data, n, features, pieces, first, part / Unit::lanes, lane, packed, here);
    for (int i = 0; i < Unit::lane_rows; ++i) atomicAdd(&sums[Unit::word_of(lane, i).row], here[i]);
    __syncthreads();
    for (int row = thread; row < side; row += threads)
      if (norms != nullptr) norms[first + row] = first + row < n ? sums[row] : MmaWork<Unit>::no_row;
    __syncthreads();
  }
}

// A thread takes a query.
__global__ void merge(const MmaWork<Unit> work, std::int64_t* neighbours, double* distances) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; query < work.queries; query += threads)
    work.merge(query, {distances + query * work.k, neighbours + query * work.k, work.k, 1});
}

__global__ void fill(std::int64_t size, std::int32_t value, std::int32_t* array) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) array[i] = value;
}

template <class T>
class Mma final : public Part {
 public:
  Mma(const Knn& problem, const Context& context, const Shard& shard) : Part(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = memory_.configure(*this, launch, cuda::limits); }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    const cudaStream_t stream = cuda::stream(queue());
    const int threads = 128, blocks_of_queries = league_of(ceil_div<std::int64_t>(knn.m, threads));
    const auto pack_all = [&](const auto& data, std::int64_t n, const auto& pieces, const auto& packed, int* norms) {
      const std::int64_t groups = pieces.rows / blocks::mma::side;
      pack<<<league_of(std::min<std::int64_t>(groups, 1 << 20)), threads, 0, stream>>>(
          data.data(), n, static_cast<int>(knn.features), pieces, packed.data(), norms);
      cuda::check_launch();
    };
    stages.stage(queue(), "pack", [&] {
      pack_all(knn.train, knn.n, memory_.train_pieces, memory_.train, memory_.train_norms.data());
      pack_all(knn.test, knn.m, memory_.test_pieces, memory_.test, nullptr);
    });
    stages.stage(queue(), "mma", [&] {
      fill<<<blocks_of_queries, threads, 0, stream>>>(knn.m, work.unlimited, work.reach);
      select_products<<<launch_.league, launch_.team, 0, stream>>>(work);
      cuda::check_launch();
    });
    stages.stage(queue(), "merge", [&] {
      merge<<<blocks_of_queries, threads, 0, stream>>>(work, knn.neighbours.data(), knn.distances.data());
      cuda::check_launch();
    });
    stages.stage(queue(), "vote", [&] { vote_all(queue(), knn); });
  }

 private:
  Launch launch_;
  MmaMemory<T, Tile, cuda::Array> memory_;
};

const RegisterSplit<Knn> registered{"mma", cuda::model, by_pixel<Mma>};

}  // namespace
}  // namespace league::knn::cuda_model
