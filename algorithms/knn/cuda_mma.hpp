// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pieces_cuda.hpp"
#include "algorithms/knn/cuda_shard.hpp"
#include "algorithms/knn/mma.hpp"
#include "algorithms/knn/mma_select.hpp"

/// Shared by the methods `mma` and `wgmma`: all but the products.
namespace league::knn::cuda_model {

// A warp takes a query.
/// The smallest entry of a list that is not below `from`; all lanes get it.
__device__ inline Candidate min_from(const Candidate* list, int count, Candidate from) {
  Candidate smallest = no_candidate;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (list[i] >= from && list[i] < smallest) smallest = list[i];
  return blocks::lanes_min(smallest, static_cast<int>(blockDim.x));
}
/// Sets the threshold from the k-th smallest sampled candidate.
template <class Tile>
__global__ void choose_threshold(const MmaWork<Tile> work) {
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; query < work.test_pieces.rows;
       query += std::int64_t{gridDim.x} * blockDim.y) {
    Candidate kth = work.groups < work.k ? no_candidate : 0;
    for (int i = 0; i < work.k && work.groups >= work.k; ++i)
      kth = min_from(work.minima + query * work.groups, work.groups, i == 0 ? 0 : kth + 1);
    if (threadIdx.x > 0) continue;
    work.threshold[query] = query < work.queries ? work.threshold_of(query, kth) : 0;
  }
}
// A thread takes one item.
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
  const float* largest;
  int depth;
  float* slack;
  __device__ void operator()(std::int64_t query) const {
    slack[query] = slack_of(test.size[query], test.error[query], largest, depth);
  }
};
template <class T>
struct Vote {
  NearestRows<T> rows;
  __device__ void operator()(std::int64_t query) const { rows.vote(query); }
};

// A warp takes a query, its lanes the candidates, or the features of one.
/// Squared distance of two rows, from differences in double; all lanes get it.
template <class T>
__device__ double squared_distance(int features, const T* x, const T* y) {
  double squared = 0;
  for (int f = threadIdx.x; f < features; f += blockDim.x) {
    const double difference = static_cast<double>(x[f]) - static_cast<double>(y[f]);
    squared += difference * difference;
  }
  return blocks::lanes_sum(squared, static_cast<int>(blockDim.x));
}
/// Selects the k nearest from each list.
template <class Tile, class T>
__global__ void choose_nearest(const MmaWork<Tile> work, const NearestRows<T> rows) {
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
      next = min_from(work.lists + query * work.room, work.counts[query], next);
      if (next > last || next == no_candidate) break;
      if constexpr (!work.exact)
        insert(count, row_of(next));
      else if (threadIdx.x == 0)
        rows.list(query, count).insert(work.squared(query, next), row_of(next));
      if (count + 1 == work.k) last = work.threshold_of(query, next);
    }
  }
}

// A block takes a query.
template <class Tile>
__global__ void __launch_bounds__(select_threads) choose_thresholds(const MmaWork<Tile> work) {
  __shared__ SelectScratch scratch;
  for (std::int64_t query = blockIdx.x; query < work.test_pieces.rows; query += gridDim.x)
    choose_threshold<ScratchAtomics>(work, query, blocks::block_group(), scratch);
}
template <class Tile, class T>
__global__ void __launch_bounds__(select_threads) choose_all(const MmaWork<Tile> work, const NearestRows<T> rows) {
  __shared__ MmaSelectScratch scratch;
  const int lanes = static_cast<int>(blockDim.x);
  for (std::int64_t query = blockIdx.x; query < work.queries; query += gridDim.x)
    choose_and_vote<ScratchAtomics>(work, rows, query, blocks::block_group(), lanes, LanesSum{lanes}, scratch);
}

/// A method with the products of `Tile`: packing, thresholds and selection.
template <class Tile, class T>
class MmaShard : public IndependentShard {
 public:
  MmaShard(const Knn& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), memory_(*this, problem) {}
  void compute(Stages& stages) override {
    const MmaWork<Tile> work = memory_.work(launch_.tile / Tile::columns);
    stages.stage(queue(), "pack", [&] { pack_all(); });
    stages.stage(queue(), "sample", [&] {
      memory_.counts.clear();
      sample();
      if (work.k > passes)
        choose_thresholds<<<league_of(work.test_pieces.rows), block(), 0, cuda::stream(queue())>>>(work);
      else
        choose_threshold<<<leagues(work.test_pieces.rows), warps(), 0, cuda::stream(queue())>>>(work);
      cuda::check_launch();
    });
    stages.stage(queue(), "mma", [&] { collect(work); });
    if (work.k > passes) {
      stages.stage(queue(), "select", [&] {
        choose_all<<<league_of(work.queries), block(), 0, cuda::stream(queue())>>>(work, memory_.nearest());
        cuda::check_launch();
      });
      return;
    }
    stages.stage(queue(), "select", [&] {
      choose_nearest<<<leagues(work.queries), warps(), 0, cuda::stream(queue())>>>(work, memory_.nearest());
      cuda::check_launch();
    });
    stages.stage(queue(), "vote", [&] { each(work.queries, Vote<T>{memory_.nearest()}); });
  }
  Counts counts() override { return memory_.counted(queue()); }

 protected:
  using Memory = MmaMemory<Tile, T, cuda::Array>;
  Launch launch_;
  Memory memory_;

 private:
  /// Submits the first pass, over a sample.
  virtual void sample() = 0;
  /// Submits the second pass, over all rows.
  virtual void collect(const MmaWork<Tile>& work) = 0;

  static constexpr int together = 4;  ///< warps of a block
  static dim3 warps() { return dim3(cuda::warp_size, together); }
  static dim3 block() { return dim3(cuda::warp_size, select_threads / cuda::warp_size); }
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
      each(knn.m, Slack{memory_.test_lengths(), memory_.train_lengths().largest,
                        memory_.train_pieces.steps * Tile::Unit::depth, memory_.slack.data()});
  }
};

}  // namespace league::knn::cuda_model
