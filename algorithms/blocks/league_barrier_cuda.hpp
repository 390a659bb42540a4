// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/league_barrier.hpp"

namespace league::blocks {

struct CudaAtomics {
  static constexpr unsigned max_polls = blocks::max_polls;
  __device__ static void fence() { __threadfence(); }
  __device__ static unsigned add(unsigned* word, unsigned value) { return atomicAdd(word, value); }
  __device__ static unsigned load(const unsigned* word) { return *static_cast<const volatile unsigned*>(word); }
  __device__ static void give_up() { cuda::trap(); }
};

/// For the blocks of a grid, all on the device at once.
__device__ inline void league_barrier(unsigned* word) {
  league_barrier(block_group(), blockIdx.x, gridDim.x, word, CudaAtomics{});
}

/// Blocks of this launch that the queue's device holds at once, by the occupancy of the largest of `kernels`.
template <class... Kernels>
int blocks_at_once(Queue& queue, Launch launch, std::size_t shared_bytes, Kernels... kernels) {
  const int multiprocessors = cuda::properties(queue).multiProcessorCount;
  const auto per_multiprocessor = [&](auto kernel) {
    int blocks = 0;
    cuda::check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, launch.team * launch.vector, shared_bytes));
    return blocks;
  };
  return multiprocessors * std::min({per_multiprocessor(kernels)...});
}

}  // namespace league::blocks
