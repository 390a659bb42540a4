// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/subgroup_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"
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
  Sums<double, n> sums;
  for (int i = 0; i < n; ++i) sums.values[i] = of_step[i];
  return sums;
}

/// Shared memory of `league_sums_for_all`, in doubles.
template <int n>
constexpr int league_sums_size(Launch launch) {
  return sums_for_all_size<n>(launch) + 2 * n;
}

/// Adds over all threads of all blocks, in the same order in each block; all threads get the sums. `alone`: there is
/// one block, and the code for several takes no registers. `scratch`: [league_sums_size].
/// @pre whole warps; all threads of all blocks call, with `step` incremented each time
template <bool alone, class T, int n>
__device__ Sums<double, n> league_sums_for_all(const Sums<T, n>& mine, double* scratch, stamped::Word* board,
                                               std::int64_t step) {
  const Sums<double, n> of_block = sums_for_all(mine, scratch + 2 * n, step);
  if (alone || gridDim.x == 1) return of_block;
  return league_all_reduce(of_block, board, scratch, step);
}

}  // namespace league::blocks
