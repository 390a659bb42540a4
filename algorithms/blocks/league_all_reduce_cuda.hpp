// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"

namespace league::blocks {

/// Adds over all threads of all blocks, in the same order in each block; all threads get the sums. `alone`: there is
/// one block, and the code for several takes no registers. `scratch`: [sums_for_all_size].
/// @pre whole warps; all threads of all blocks call, with `step` incremented each time
template <bool alone, class T, int n>
__device__ Sums<double, n> league_sums_for_all(const Sums<T, n>& mine, double* scratch, stamped::Word* board,
                                               std::int64_t step) {
  const Sums<double, n> of_block = sums_for_all(mine, scratch, alone ? step : own_turn(gridDim.x, step));
  if constexpr (alone) return of_block;
  const auto receivers = native_receivers(block_group(), gridDim.x, [=](const Sums<double, n>& received) {
    return sums_for_all(received, scratch, received_turn(step));
  });
  return league_all_reduce(block_group(), receivers, blockIdx.x, gridDim.x, of_block, board, step, CudaAtomics{});
}

}  // namespace league::blocks
