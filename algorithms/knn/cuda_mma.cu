// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/blocks/pieces_cuda.hpp"
#include "algorithms/knn/cuda_part.hpp"
#include "algorithms/knn/mma.hpp"

namespace league::knn::cuda_model {
namespace {

// A block takes a tile of queries and a chunk of the training rows, tile by tile; a warp some products [16 x 16].
/// The least candidate of each group of sampled rows.
template <class Unit>
__global__ void __launch_bounds__(MmaTile<Unit>::threads, cuda::launch_bound(mma_teams))
    sample_products(const MmaWork<Unit> work) {
  using Tile = MmaTile<Unit>;
  using Team = MmaTeam<Tile>;
  using Key = typename Unit::Sum;
  alignas(16) __shared__ char scratch[Team::scratch_bytes];
  const Team team(scratch);
  const auto group = blocks::block_group();
  for (int item = blockIdx.x; item < work.items(work.samples); item += gridDim.x) {
    const int queries = item % work.query_tiles() * Tile::rows, first = item / work.query_tiles() * work.chunk;
    const int end = min(first + work.chunk, work.samples);
    blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
        group, team.stages, work.test_at(queries), work.train_at(first), work.train_pieces.steps, end - first);
    for (int tile = first; tile < end; ++tile) {
      blocks::TileSums<Tile> sums;
      pipeline.next(sums);
      const int thread = group.rank - (tile >> 31);  // the same, but not known before the products are there
      const int number = tile * Tile::row_threads + Tile::place_in_row(thread);
      Key norms[Tile::row_values];
      for (int i = 0; i < Tile::row_values; ++i) norms[i] = work.norm(tile, Tile::column(thread, i));
      blocks::TileValues<Tile>(sums).for_rows(thread, [&](int row, const Key* products) {
        Candidate least = no_candidate;
        for (int i = 0; i < Tile::row_values; ++i)
          least = lesser(least, work.candidate(tile, Tile::column(thread, i), norms[i] - 2 * products[i]));
        work.least[std::int64_t{queries + row} * work.groups + number] = least;
      });
    }
    group.barrier();
  }
}

// Candidates are rare: threads push them to a pool in shared memory. When it is half full, it is emptied by all.
/// The lists of all candidates within reach.
template <class Unit>
__global__ void __launch_bounds__(MmaTile<Unit>::threads, cuda::launch_bound(mma_teams))
    collect_products(const MmaWork<Unit> work) {
  using Tile = MmaTile<Unit>;
  using Team = MmaTeam<Tile>;
  using Key = typename Unit::Sum;
  alignas(16) __shared__ char scratch[Team::scratch_bytes];
  const Team team(scratch);
  const auto group = blocks::block_group();
  using Limits = KeyLimits<Key>;
  const auto take = [](int* counter) { return atomicAdd(counter, 1); };
  int round = 0;  // and counter: one is read while the other is cleared
  if (group.rank == 0) team.pushed[0] = team.pushed[1] = 0;
  for (int item = blockIdx.x; item < work.items(work.tiles()); item += gridDim.x) {
    const int queries = item % work.query_tiles() * Tile::rows, first = item / work.query_tiles() * work.chunk;
    const int end = min(first + work.chunk, work.tiles());
    for (int row = group.rank; row < Tile::rows; row += Tile::threads)
      team.reach[row] = key_of<Key>(work.reach[queries + row]);
    blocks::Pipeline<Tile, blocks::NativeCopies, decltype(group)> pipeline(
        group, team.stages, work.test_at(queries), work.train_at(first), work.train_pieces.steps, end - first);
    for (int tile = first; tile < end; ++tile) {
      blocks::TileSums<Tile> sums;
      pipeline.next(sums);
      const int thread = group.rank - (tile >> 31);  // the same, but not known before the products are there
      Key norms[Tile::row_values];
      for (int i = 0; i < Tile::row_values; ++i) norms[i] = work.norm(tile, Tile::column(thread, i));
      blocks::TileValues<Tile>(sums).for_rows(thread, [&](int row, const Key* products) {
        const Key within = team.reach[row];
        Key least = Limits::unlimited();
        for (int i = 0; i < Tile::row_values; ++i) least = lesser(least, norms[i] - 2 * products[i]);
        if (!(least <= within)) return;
        Key keys[Tile::row_values];
        unsigned hits = 0;
        for (int i = 0; i < Tile::row_values; ++i) {
          keys[i] = norms[i] - 2 * products[i];
          hits |= (keys[i] <= within ? 1U : 0U) << i;
        }
        for (int i = 0; hits != 0; ++i, hits >>= 1) {  // rare: not to be unrolled
          if ((hits & 1U) == 0) continue;
          const Candidate candidate = work.candidate(tile, Tile::column(thread, i), keys[i]);
          if (candidate > work.reach[queries + row]) continue;
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

// A warp takes a query.
/// The least of a list that is not less than `from`; all lanes get it.
__device__ Candidate least_from(const Candidate* list, int count, Candidate from) {
  Candidate least = no_candidate;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (list[i] >= from && list[i] < least) least = list[i];
  return blocks::lanes_least(least, static_cast<int>(blockDim.x));
}
/// How far to look, by the k-th of the sampled candidates.
template <class Unit>
__global__ void choose_reach(const MmaWork<Unit> work) {
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; query < work.test_pieces.rows;
       query += std::int64_t{gridDim.x} * blockDim.y) {
    Candidate kth = work.groups < work.k ? no_candidate : 0;
    for (int i = 0; i < work.k && work.groups >= work.k; ++i)
      kth = least_from(work.least + query * work.groups, work.groups, i == 0 ? 0 : kth + 1);
    if (threadIdx.x > 0) continue;
    work.reach[query] = query < work.queries ? work.reach_of(query, kth) : 0;
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
template <class T>
struct Vote {
  NearestRows<T> rows;
  __device__ void operator()(std::int64_t query) const { rows.vote(query); }
};

// A warp takes a query, its lanes candidates, or the features of one.
/// The squared distance of two rows, as differences in double; all lanes get it.
template <class T>
__device__ double squared_distance(int features, const T* x, const T* y) {
  double squared = 0;
  for (int f = threadIdx.x; f < features; f += blockDim.x) {
    const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
    squared += difference * difference;
  }
  return blocks::lanes_sum(squared, static_cast<int>(blockDim.x));
}
/// The k nearest of each list.
template <class Unit, class T>
__global__ void choose_nearest(const MmaWork<Unit> work, const NearestRows<T> rows) {
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; query < work.queries;
       query += std::int64_t{gridDim.x} * blockDim.y) {
    const auto insert = [&](std::int64_t count, std::int64_t row) {
      const double squared = squared_distance(rows.features, rows.test_row(query), rows.train_row(row));
      if (threadIdx.x == 0) rows.list(query, count).insert(squared, row);
    };
    if (work.by_all_rows(query)) {
      for (std::int64_t row = 0; row < rows.n; ++row) insert(row, row);
      continue;
    }
    Candidate next = 0, last = no_candidate;
    for (int count = 0; !work.exact || count < work.k; ++count, ++next) {
      next = least_from(work.lists + query * work.room, work.counts[query], next);
      if (next > last || next == no_candidate) break;
      if constexpr (!work.exact)
        insert(count, row_of(next));
      else if (threadIdx.x == 0)
        rows.list(query, count).insert(work.squared(query, next), row_of(next));
      if (count + 1 == work.k) last = work.reach_of(query, next);
    }
  }
}

template <class Unit, class T>
class Mma final : public Part {
  using Memory = MmaMemory<Unit, T, cuda::Array>;

 public:
  Mma(const Knn& problem, const Context& context, const Shard& shard) : Part(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override { return launch_ = memory_.configure(launch, cuda::limits); }
  void compute(Stages& stages) override {
    const MmaWork<Unit> work = memory_.work(launch_.tile / Memory::Tile::columns);
    stages.stage(queue(), "pack", [&] { pack_all(); });
    stages.stage(queue(), "sample", [&] { sample(memory_.work(Memory::sampled_chunk)); });
    stages.stage(queue(), "mma", [&] {
      collect_products<Unit><<<launch_.league, launch_.team, 0, cuda::stream(queue())>>>(work);
      cuda::check_launch();
    });
    stages.stage(queue(), "select", [&] {
      choose_nearest<<<leagues(work.queries), warps(), 0, cuda::stream(queue())>>>(work, memory_.nearest());
      cuda::check_launch();
    });
    stages.stage(queue(), "vote", [&] { each(work.queries, Vote<T>{memory_.nearest()}); });
  }
  Counts counts() override { return memory_.counted(queue()); }

 private:
  static constexpr int together = 4;  ///< warps of a block
  static dim3 warps() { return dim3(cuda::warp_size, together); }
  static int leagues(std::int64_t queries) { return league_of(ceil_div<std::int64_t>(queries, together)); }
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
      each(knn.m, Slack{memory_.test_lengths(), memory_.train_lengths().most, memory_.train_pieces.steps * Unit::depth,
                        memory_.slack.data()});
  }
  void sample(const MmaWork<Unit>& work) {
    const cudaStream_t stream = cuda::stream(queue());
    memory_.counts.clear();
    sample_products<Unit><<<work.items(work.samples), launch_.team, 0, stream>>>(work);
    cuda::check_launch();
    choose_reach<<<leagues(work.test_pieces.rows), warps(), 0, stream>>>(work);
    cuda::check_launch();
  }

  Launch launch_;
  Memory memory_;
};

const RegisterSplit<Knn> registered{"mma", cuda::model, by_unit<blocks::mma::Native, Mma>};

}  // namespace
}  // namespace league::knn::cuda_model
