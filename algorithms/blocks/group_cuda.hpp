// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// The threads of this block.
__device__ inline auto block_group() {
  return group_of(static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), static_cast<int>(blockDim.x * blockDim.y),
                  [] { __syncthreads(); });
}

/// Ticket (last-block reduction): true in the last of `count` blocks to arrive, which sees what the others have
/// written. One thread's fences order the writes of its block, since they are cumulative over the barriers.
/// @pre all threads call; `ticket` is 0, and is reset to 0
__device__ inline bool comes_last(unsigned* ticket, unsigned count) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    last = atomicAdd(ticket, 1U) + 1 == count;
    if (last) *ticket = 0;
    __threadfence();
  }
  __syncthreads();
  return last;
}

}  // namespace league::blocks
