// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/blocks/sums_cuda.hpp"

namespace league::blocks {

/// For `league_all_reduce`: where one warp can receive the sums of all blocks, each of a block's does, which saves a
/// barrier; else its threads share them. The threads of a warp go on together.
struct BlockReceivers {
  bool each_warp;
  double* scratch;
  std::int64_t turn;
  [[nodiscard]] __device__ int rank() const {
    const int thread = block_group().rank;
    return each_warp ? thread % subgroup_size : thread;
  }
  [[nodiscard]] __device__ int size() const { return each_warp ? subgroup_size : block_group().size; }
  [[nodiscard]] __device__ static bool all(bool here) { return NativeLanes::all(here); }
  template <int n>
  [[nodiscard]] __device__ Sums<double, n> sum(const Sums<double, n>& mine) const {
    return each_warp ? warp_sums_for_all(mine) : sums_for_all(mine, scratch, turn);
  }
};

/// Adds over all threads of all blocks, in the same order in each block; all threads get the sums. `alone`: there is
/// one block, and the code for several takes no registers. `scratch`: [sums_for_all_size].
/// @pre whole warps; all threads of all blocks call, with `step` incremented each time
template <bool alone, class T, int n>
__device__ Sums<double, n> league_sums_for_all(const Sums<T, n>& mine, double* scratch, stamped::Word* board,
                                               std::int64_t step) {
  const bool each_warp = alone || gridDim.x <= subgroup_size;
  const Sums<double, n> of_block = sums_for_all(mine, scratch, each_warp ? step : 2 * step);
  if constexpr (alone) return of_block;
  return league_all_reduce(block_group(), BlockReceivers{each_warp, scratch, 2 * step + 1}, blockIdx.x, gridDim.x,
                           of_block, board, step, CudaAtomics{});
}

}  // namespace league::blocks
