// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/subgroup_cuda.hpp"
#include "backends/cuda/wait.hpp"

namespace league::blocks {

/// Adds the sums of all blocks, in the same order in each; all threads get them. A thread adds one value, its lanes
/// (blockDim.x) the blocks. `totals`: shared memory [2 x n].
/// @pre whole warps; all threads of all blocks call, with `step` incremented each time
template <int n>
__device__ Sums<double, n> league_all_reduce(const Sums<double, n>& of_block, stamped::Word* board, double* totals,
                                             std::int64_t step) {
  const int lanes = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const auto slots = Slots<n>::of(board, gridDim.x, step);
  slots.send(block_group(), blockIdx.x, of_block);
  double* of_step = totals + (step & 1) * n;
  for (int first = 0; first < n; first += static_cast<int>(blockDim.y)) {
    const int i = first + static_cast<int>(threadIdx.y);  // beyond the last value, a thread takes part in shuffles only
    double sum = 0;
    for (std::int64_t block = lane; i < n && block < slots.teams; block += lanes)
      sum += cuda::await(slots.low + i * slots.teams + block, slots.high + i * slots.teams + block, slots.stamp);
    sum = lanes_sum(sum, lanes);
    if (i < n && lane == 0) of_step[i] = sum;
  }
  __syncthreads();
  return sums_in<n>(of_step);
}

}  // namespace league::blocks
