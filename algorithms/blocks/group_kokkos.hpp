// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/once_per_team_kokkos.hpp"
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

/// The threads of a team as a group, in Kokkos' own API; for kernels that are written over this or `NativeThreads`.
struct TeamThreads {
  template <int size, class Member>
  KOKKOS_FUNCTION static auto of(const Member& team) {
    return threads_of<size>(team);
  }
  template <class Member>
  KOKKOS_FUNCTION static auto of(const Member& team, int size) {
    return team_group(team, size);
  }
  /// A value, and the address of scratch memory aligned to `alignment` bytes: left to the compiler.
  template <class T>
  KOKKOS_FUNCTION static T kept(T value) {
    return value;
  }
  template <int alignment, class T>
  KOKKOS_FUNCTION static T* kept_shared(T* scratch) {
    return scratch;
  }
};

/// Ticket (last-block reduction): true in the last of `count` teams to arrive, which sees what the others have written.
/// One thread's fences order the writes of its team, since they are cumulative over the barriers.
/// @pre all threads call; `ticket` is 0, and is reset to 0
template <class Member>
KOKKOS_INLINE_FUNCTION bool comes_last(const Member& team, unsigned* ticket, unsigned count) {
  int last = 0;
  team.team_barrier();
  Kokkos::single(
      Kokkos::PerTeam(team),
      [&](int& is_last) {
        Kokkos::memory_fence();
        is_last = Kokkos::atomic_fetch_add(ticket, 1U) + 1 == count ? 1 : 0;
        if (is_last == 1) *ticket = 0;
        Kokkos::memory_fence();
      },
      last);
  return last == 1;
}

}  // namespace league::blocks
