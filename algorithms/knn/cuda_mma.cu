// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/blocks/pieces_cuda.hpp"
#include "algorithms/knn/cuda_part.hpp"
#include "algorithms/knn/mma.hpp"

namespace league::knn::cuda_model {
namespace {

// A block takes a tile of queries and a chunk of training rows, tile by tile; a warp some products [16 x 16]. Keys
// within reach of their query are rare: threads push them to a pool in shared memory, and the query's own thread
// inserts them.
template <class Unit>
__global__ void __launch_bounds__(MmaTile<Unit>::threads, 1) select_products(const MmaWork<Unit> work) {
  using Tile = MmaTile<Unit>;
  using OfTeam = MmaTeam<Tile>;
  using Key = typename Unit::Sum;
  using Limits = KeyLimits<Key>;
  constexpr int slots = OfTeam::slots;
  alignas(16) __shared__ int scratch[OfTeam::scratch_bytes / 4];
  const auto group = blocks::block_group();
  auto* stages = reinterpret_cast<typename Unit::Word*>(scratch);
  auto* reach = reinterpret_cast<Key*>(scratch + Tile::scratch_bytes / 4);
  auto* keys = reach + Tile::rows;
  int* places = reinterpret_cast<int*>(keys + slots);
  int* pushed = places + slots;  // two counters: one is read while the other is cleared
  const int tiles = work.tiles(), items = tiles * work.chunks();
  int round = 0;  // and counter
  if (group.rank == 0) pushed[0] = pushed[1] = 0;

  for (int item = blockIdx.x; item < items; item += gridDim.x) {
    const int queries = item % tiles * Tile::rows, chunk = item / tiles;
    for (int row = group.rank; row < Tile::rows; row += Tile::threads) {
      const bool is_there = queries + row < work.queries;
      reach[row] = is_there ? Limits::from_ordered(work.reach[queries + row]) : Limits::nothing();
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
            const int slot = key <= within ? atomicAdd(&pushed[round], 1) : slots;
            if (slot >= slots) continue;
            keys[slot] = key;
            places[slot] = row * Tile::columns + column + i;
            products[i] = Limits::gone();
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
          reach[row] = min(reach[row], work.reach_of(list, queries + row));
        }
        more = count > slots;
        if (more) group.barrier();
      }
    }
    for (int row = group.rank; row < Tile::rows && queries + row < work.queries; row += Tile::threads)
      atomicMin(work.reach + queries + row, Limits::to_ordered(reach[row]));
    group.barrier();
  }
}

// A thread takes an item.
template <class Body>
__global__ void for_each(std::int64_t count, const Body body) {
  const std::int64_t threads = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += threads) body(i);
}
struct Centre {
  const float* data;
  std::int64_t n;
  int features;
  float *centre, *widest;
  __device__ void operator()(std::int64_t f) const {
    const auto peak = [](std::int32_t* to, std::int32_t value) { atomicMax(to, value); };
    centre[f] = centre_of(data, n, features, static_cast<int>(f), widest, peak);
  }
};
struct Slack {
  Lengths test;
  const float* most;
  int depth;
  float* slack;
  __device__ void operator()(std::int64_t query) const {
    slack[query] = slack_of(test.size[query], test.error[query], most, depth);
  }
};
struct Fill {
  std::int32_t value, *array;
  __device__ void operator()(std::int64_t i) const { array[i] = value; }
};
template <class Unit>
struct Merge {
  MmaWork<Unit> work;
  double* keys;
  std::int64_t* rows;
  __device__ void operator()(std::int64_t query) const {
    work.merge(query, {keys + query * work.kept, rows + query * work.kept, work.kept, 1});
  }
};

// A thread takes a query, its lanes the features. All lanes of a block go round equally often: they shuffle together.
/// The k best of the candidates, by their distances as differences in double.
__global__ void refine(std::int64_t queries, std::int64_t n, int k, int kept, int features, const float* test,
                       const float* train, const float* slack, const double* keys, const std::int64_t* candidates,
                       double* distances, std::int64_t* neighbours) {
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; query < queries;
       query += std::int64_t{gridDim.x} * blockDim.y) {  // a warp is one query: the others need not go along
    const Candidates found(keys + query * kept, candidates + query * kept, k, kept, slack[query], n);
    const blocks::KBest<double, std::int64_t> best{distances + query * k, neighbours + query * k, k, 1};
    if (threadIdx.x == 0) best.clear();
    for (std::int64_t i = 0; i < found.count && found.reaches(i); ++i) {
      const float *x = test + query * features, *y = train + found.row(i) * features;
      double squared = 0;
      for (int f = threadIdx.x; f < features; f += blockDim.x) {
        const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
        squared += difference * difference;
      }
      squared = blocks::lanes_sum(squared, static_cast<int>(blockDim.x));
      if (threadIdx.x == 0) best.insert(squared, found.row(i));
    }
  }
}

template <class Unit, class T>
class Mma final : public Part {
  using Memory = MmaMemory<Unit, T, cuda::Array>;
  using Limits = KeyLimits<typename Unit::Sum>;

 public:
  Mma(const Knn& problem, const Context& context, const Shard& shard) : Part(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = memory_.configure(*this, launch, cuda::limits); }
  void compute(Stages& stages) override {
    const auto& knn = memory_.knn;
    const auto work = memory_.work(launch_.tile);
    stages.stage(queue(), "pack", [&] { pack_all(); });
    stages.stage(queue(), "mma", [&] {
      each(knn.m, Fill{Limits::to_ordered(Limits::unlimited()), work.reach});
      select_products<Unit><<<launch_.league, launch_.team, 0, cuda::stream(queue())>>>(work);
      cuda::check_launch();
    });
    if constexpr (Memory::exact) {
      stages.stage(queue(), "merge",
                   [&] { each(knn.m, Merge<Unit>{work, knn.distances.data(), knn.neighbours.data()}); });
    } else {
      stages.stage(queue(), "merge",
                   [&] { each(knn.m, Merge<Unit>{work, memory_.candidate_keys.data(), memory_.candidates.data()}); });
      stages.stage(queue(), "refine", [&] { refine_all(); });
    }
    stages.stage(queue(), "vote", [&] { vote_all(queue(), knn); });
  }

 private:
  template <class Body>
  void each(std::int64_t count, const Body& body) {
    const int threads = 128;
    for_each<<<league_of(ceil_div<std::int64_t>(count, threads)), threads, 0, cuda::stream(queue())>>>(count, body);
    cuda::check_launch();
  }
  void pack_all() {
    const auto& knn = memory_.knn;
    if constexpr (!Memory::exact) {
      const int features = static_cast<int>(knn.features);
      memory_.lengths.clear();
      each(features, Centre{knn.train.data(), knn.n, features, memory_.centre.data(), memory_.widest()});
    }
    blocks::pack_all(cuda::stream(queue()), memory_.train_rows(), memory_.train_pieces, memory_.train.data());
    blocks::pack_all(cuda::stream(queue()), memory_.test_rows(), memory_.test_pieces, memory_.test.data());
    if constexpr (!Memory::exact)
      each(knn.m, Slack{memory_.test_rows().lengths, memory_.train_rows().lengths.most,
                        memory_.train_pieces.steps * Unit::depth, memory_.slack.data()});
  }
  void refine_all() {
    const auto& knn = memory_.knn;
    const dim3 block(cuda::warp_size, 8);
    refine<<<league_of(ceil_div<std::int64_t>(knn.m, block.y)), block, 0, cuda::stream(queue())>>>(
        knn.m, knn.n, knn.k, memory_.kept(), static_cast<int>(knn.features), knn.test.data(), knn.train.data(),
        memory_.slack.data(), memory_.candidate_keys.data(), memory_.candidates.data(), knn.distances.data(),
        knn.neighbours.data());
    cuda::check_launch();
  }

  Launch launch_;
  Memory memory_;
};

const RegisterSplit<Knn> registered{"mma", cuda::model, by_unit<blocks::mma::Native, Mma>};

}  // namespace
}  // namespace league::knn::cuda_model
