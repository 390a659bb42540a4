// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/product_tile_cuda.hpp"
#include "algorithms/blocks/subgroup_cuda.hpp"
#include "algorithms/knn/common/select.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::knn::cuda_model {

/// For select.hpp and the kernel of `fused`.
struct ScratchAtomics {
  __device__ static int add(int* to, int value) { return atomicAdd(to, value); }
  __device__ static void min(int* to, int value) { atomicMin(to, value); }
  __device__ static void max(unsigned* to, unsigned value) { atomicMax(to, value); }
};
/// Adds over `lanes` neighbouring lanes; all get the sum.
struct LanesSum {
  int lanes;
  template <class T>
  __device__ T operator()(T mine) const {
    return blocks::lanes_sum(mine, lanes);
  }
};

// A block takes a query, its threads the distances with stride `threads`. k passes, each finds the smallest key after
// the last one.
/// `squared(query, j)`: squared distance to training row j, for `selection_key`.
template <class Squared>
__global__ void select(std::int64_t queries, std::int64_t n, int k, Squared squared, std::int64_t* neighbours) {
  extern __shared__ unsigned long long smallest[];
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t query = blockIdx.x; query < queries; query += gridDim.x) {
    unsigned long long from = 0;
    for (int i = 0; i < k; ++i) {
      unsigned long long mine = ~0ULL;
      for (std::int64_t j = thread; j < n; j += threads) {
        const unsigned long long key = selection_key(squared(query, j), j);
        if (key >= from && key < mine) mine = key;
      }
      smallest[thread] = mine;
      blocks::combine_in_scratch(blocks::block_group(), smallest,
                                 [](unsigned long long a, unsigned long long b) { return a < b ? a : b; });
      __syncthreads();
      from = smallest[0] + 1;
      if (thread == 0) neighbours[query * k + i] = static_cast<std::int64_t>(smallest[0] & 0xffffffffULL);
      __syncthreads();
    }
  }
}

// A warp takes a query, its lanes the features.
template <class T>
__global__ void vote(std::int64_t queries, int features, int k, Votes votes, const T* test, const T* train,
                     const std::int32_t* train_labels, std::int64_t* neighbours, double* distances,
                     std::int32_t* labels) {
  const int lane = static_cast<int>(threadIdx.x), lanes = static_cast<int>(blockDim.x);
  for (std::int64_t query = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; query < queries;
       query += std::int64_t{gridDim.x} * blockDim.y)
    measure_and_vote(lane, lanes, features, test + query * features, train, k, votes, train_labels,
                     neighbours + query * k, distances + query * k, labels + query, LanesSum{lanes});
}

/// For `queries` queries from `first` on.
template <class T, class Squared>
void select_rows(Queue& queue, const Memory<T, cuda::Array>& knn, Launch launch, std::int64_t first,
                 std::int64_t queries, const Squared& squared) {
  const int threads = launch.team * launch.vector;
  select<<<std::min(launch.league, league_of(queries)), threads, threads * sizeof(unsigned long long),
           cuda::stream(queue)>>>(queries, knn.n, knn.k, squared, knn.neighbours.data() + first * knn.k);
  cuda::check_launch();
}

template <class T>
void vote_all(Queue& queue, const Memory<T, cuda::Array>& knn) {
  const dim3 block(cuda::warp_size, 8);
  vote<<<league_of(ceil_div<std::int64_t>(knn.m, block.y)), block, 0, cuda::stream(queue)>>>(
      knn.m, static_cast<int>(knn.features), knn.k, knn.votes, knn.test.data(), knn.train.data(),
      knn.train_labels.data(), knn.neighbours.data(), knn.distances.data(), knn.labels.data());
  cuda::check_launch();
}

}  // namespace league::knn::cuda_model
