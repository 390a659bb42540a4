// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pieces_cuda.hpp"
#include "algorithms/knn/common/cuda.hpp"
#include "algorithms/knn/common/mma.hpp"
#include "algorithms/knn/common/mma_select.hpp"

/// Shared by the methods `mma` and `wgmma`: all but the products.
namespace league::knn::cuda_model {

/// The lanes of a warp, which takes a query.
struct WarpLanes {
  static constexpr int size = cuda::warp_size;
  int rank;
  template <class V>
  __device__ V sum(V value) const {
    return blocks::lanes_sum(value, size);
  }
  template <class V>
  __device__ V min(V value) const {
    return blocks::lanes_min(value, size);
  }
};
/// `body(query)` for the queries of this warp.
template <class Body>
__device__ void for_queries(std::int64_t queries, const Body& body) {
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; query < queries;
       query += std::int64_t{gridDim.x} * blockDim.y)
    body(query);
}
template <class Tile>
__global__ void choose_threshold(const MmaWork<Tile> work) {
  const WarpLanes lanes{static_cast<int>(threadIdx.x)};
  for_queries(work.test_pieces.rows, [&](std::int64_t query) { choose_threshold_in_passes(work, query, lanes); });
}
template <class Tile, class T>
__global__ void choose_nearest(const MmaWork<Tile> work, const NearestRows<T> rows) {
  const WarpLanes lanes{static_cast<int>(threadIdx.x)};
  for_queries(work.queries, [&](std::int64_t query) { choose_nearest_in_passes(work, rows, query, lanes); });
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
  [[nodiscard]] bool submits_in_parallel() const override { return true; }
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
