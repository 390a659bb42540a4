// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"

namespace league::blocks {

/// Adds over all threads of all blocks, in the same order in each block; all threads get the sums. `alone`: there is
/// one block, and the code for several takes no registers. `scratch`: as for `sums_for_all`.
/// @pre whole warps; all threads of all blocks call, with `step` incremented each time
template <bool alone, class T, int n>
__device__ Sums<double, n> league_sums_for_all(const Sums<T, n>& mine, double* scratch, stamped::Word* board,
                                               std::int64_t step) {
  if (alone || gridDim.x == 1) return sums_for_all(mine, scratch, step);
  return league_all_reduce(block_group(), blockIdx.x, gridDim.x, sums_for_all(mine, scratch, 2 * step), board, step,
                           CudaAtomics{},
                           [&](const Sums<double, n>& sums) { return sums_for_all(sums, scratch, 2 * step + 1); });
}

}  // namespace league::blocks
