// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/kept.hpp"

namespace league::blocks {

/// `threads_of` with `__syncthreads`. Kokkos' `team_barrier` branches at run time on whether teams share a block; the
/// compiler does not move instructions across that branch. @pre the team is whole subgroups, one team per block
template <int size, class Member>
KOKKOS_FUNCTION auto native_threads_of(const Member& team) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return group_of(team.team_rank(), size, [] { __syncthreads(); });
#else
  return threads_of<size>(team);
#endif
}

/// `team_group` with `__syncthreads`, for the threads and vector lanes of a team. @pre as above
template <class Member>
KOKKOS_FUNCTION auto native_group([[maybe_unused]] const Member& team, int size) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return group_of(kept(static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x)), kept(size), [] { __syncthreads(); });
#else
  return team_group(team, size);
#endif
}

/// `TeamThreads` with `__syncthreads`.
struct NativeThreads {
  template <int size, class Member>
  KOKKOS_FUNCTION static auto of(const Member& team) {
    return native_threads_of<size>(team);
  }
  template <class Member>
  KOKKOS_FUNCTION static auto of(const Member& team, int size) {
    return native_group(team, size);
  }
  template <class T>
  KOKKOS_FUNCTION static T kept(T value) {
    return blocks::kept(value);
  }
  template <int alignment, class T>
  KOKKOS_FUNCTION static T* kept_shared(T* scratch) {
    return blocks::kept_shared<alignment>(scratch);
  }
};

}  // namespace league::blocks
