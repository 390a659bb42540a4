// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// One lane of the team calls `work()`, as in `Kokkos::single(PerTeam)`, but no lane waits. At its end `single` of
/// Kokkos 4.7 synchronises the lanes of each thread by a mask of its own: with vector length 1 a warp does so 32 times,
/// after two divisions, which takes 0.5 us on an H100.
template <class Member, class Work>
KOKKOS_INLINE_FUNCTION void once_per_team(const Member& team, const Work& work) {
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, 1), [&](int) { work(); });
}

}  // namespace league::blocks
