// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// The threads of this team, or its threads and vector lanes: `size` in all.
template <class Member>
KOKKOS_INLINE_FUNCTION auto team_group(const Member& team, int size) {
  int rank = 0;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, size), [&](int i) { rank = i; });
  return group_of(rank, size, [&team] { team.team_barrier(); });
}

/// The threads of a team of `size`, vector length 1; no barrier if `size` is 1.
template <int size, class Member>
KOKKOS_FUNCTION auto threads_of(const Member& team) {
  if constexpr (size == 1)
    return one_thread;
  else
    return group_of(team.team_rank(), size, [&team] { team.team_barrier(); });
}

/// Ticket (last-block reduction): true in the last of `count` teams to arrive, which sees what the others have written.
/// @pre all threads call; `ticket` is 0, and is reset to 0
template <class Member>
KOKKOS_INLINE_FUNCTION bool comes_last(const Member& team, unsigned* ticket, unsigned count) {
  int last = 0;
  Kokkos::memory_fence();
  team.team_barrier();
  Kokkos::single(
      Kokkos::PerTeam(team),
      [&](int& is_last) {
        is_last = Kokkos::atomic_fetch_add(ticket, 1U) + 1 == count ? 1 : 0;
        if (is_last == 1) *ticket = 0;
      },
      last);
  Kokkos::memory_fence();
  return last == 1;
}

}  // namespace league::blocks
