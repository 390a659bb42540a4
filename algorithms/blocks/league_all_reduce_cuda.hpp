// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"

namespace league::blocks {

/// Shared memory of `league_sums_for_all`, in doubles.
template <int n>
constexpr int league_sums_size(Launch launch) {
  return received_size<n>(launch.team * launch.vector) + sums_for_all_size<n>(launch);
}

/// Adds over all threads of all blocks, in the same order in each block; all threads get the sums. `alone`: there is
/// one block, and the code for several takes no registers. `scratch`: [league_sums_size]; `board`: [league_sums_words].
/// @pre whole warps; all threads of all blocks call, with `step` incremented each time
template <bool alone, class T, int n>
__device__ Sums<double, n> league_sums_for_all(const Sums<T, n>& mine, double* scratch, stamped::Word* board,
                                               std::int64_t step) {
  const auto team = block_group();
  double* of_warps = scratch + received_size<n>(team.size);
  const Sums<double, n> of_block = sums_for_all(mine, of_warps, alone ? step : own_turn(gridDim.x, step));
  if constexpr (alone) return of_block;
  const auto receivers = native_receivers(team, gridDim.x, [=](const Sums<double, n>& received) {
    return sums_for_all(received, of_warps, received_turn(step));
  });
  return league_all_reduce(team, receivers, blockIdx.x, gridDim.x, of_block, board, step, CudaAtomics{}, scratch);
}

}  // namespace league::blocks
