// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/sum/chunks.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::cuda::sum {

using league::sum::Chunks, league::sum::lane_sum, league::sum::Total;

/// The sum over a block, in thread 0. @pre whole warps
template <class V>
__device__ V block_sum(V mine) {
  return blocks::block_sums(blocks::Sums<V, 1>{{mine}}).values[0];
}

// A block takes one chunk after another; a thread every lanes-th pack of it.
template <class T>
__global__ void add_chunks(Chunks chunks, const T* x, Total<T>* partials) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x) {
    const Total<T> total = block_sum(lane_sum(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes));
    if (lane == 0) partials[chunk] = total;
  }
}

// One block takes all partial sums.
template <class V>
__global__ void add_partials(int count, const V* partials, V* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const V total = block_sum(lane_sum(partials, count, lane, lanes));
  if (lane == 0) *sum = total;
}

/// @throws Unsupported unless a block is made of whole warps
inline Launch configure(Launch launch, Chunks chunks) {
  launch = resolve(launch, {0, 256, 1}, limits);
  if (launch.team * launch.vector % warp_size != 0)
    throw Unsupported("team size x vector length " + std::to_string(launch.team * launch.vector) +
                      ": this sum needs a multiple of " + std::to_string(warp_size));
  if (launch.league == 0) launch.league = league_of(chunks.count);
  return launch;
}

inline dim3 block_of(Launch launch) {
  return {static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team)};
}

template <class T>
void two_stage(Launch launch, cudaStream_t stream, Chunks chunks, const T* x, Total<T>* partials) {
  add_chunks<<<static_cast<unsigned>(launch.league), block_of(launch), 0, stream>>>(chunks, x, partials);
  check_launch();
}

}  // namespace league::cuda::sum
