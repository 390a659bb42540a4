// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/sum/common/lanes.hpp"
#include "algorithms/sum/common/shards.hpp"
#include "backends/cuda/pass.hpp"

/// What the sums in CUDA share: the second stage, launches, the sum over a block.
namespace league::cuda::sum {

using namespace league::sum;

/// The sum over a block, in thread 0. @pre whole warps
template <class V>
__device__ V block_sum(V mine) {
  return blocks::block_sums(blocks::Sums<V, 1>{{mine}}).values[0];
}

__device__ inline void atomic_add(double* sum, double value) { atomicAdd(sum, value); }
__device__ inline void atomic_add(std::int64_t* sum, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

// One block takes all partial sums.
template <class V>
__global__ void add_partials(int count, const V* partials, V* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const V total = block_sum(lane_sum(partials, count, lane, lanes));
  if (lane == 0) *sum = total;
}

template <class T>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  add_partials<<<1, static_cast<unsigned>(finish_team(count)), 0, on.stream>>>(count, partials, sum);
  check_launch();
}

/// @throws Unsupported unless a block is made of whole warps
inline Launch configure(Queue&, Launch launch, Chunks chunks) {
  launch = resolve(launch, {0, 256, 1}, limits);
  if (launch.team * launch.vector % warp_size != 0)
    throw Unsupported("team size x vector length " + std::to_string(launch.team * launch.vector) +
                      ": this sum needs a multiple of " + std::to_string(warp_size));
  if (launch.league == 0) launch.league = league_of(chunks.count);
  return launch;
}

}  // namespace league::cuda::sum
