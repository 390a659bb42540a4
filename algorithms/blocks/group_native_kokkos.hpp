// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"

namespace league::blocks {

/// `threads_of` with the machine's own barrier. Kokkos' asks each time whether several teams share a block, and what is
/// between two barriers cannot move past the question. @pre the team is whole subgroups, so that none does
template <int size, class Member>
KOKKOS_FUNCTION auto native_threads_of(const Member& team) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return group_of(team.team_rank(), size, [] { __syncthreads(); });
#else
  return threads_of<size>(team);
#endif
}

}  // namespace league::blocks
