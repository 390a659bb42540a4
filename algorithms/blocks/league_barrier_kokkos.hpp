// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/league_barrier.hpp"

namespace league::blocks {

struct KokkosAtomics {
  static constexpr unsigned max_polls = blocks::max_polls;
  KOKKOS_FUNCTION static void fence() { Kokkos::memory_fence(); }
  KOKKOS_FUNCTION static unsigned add(unsigned* word, unsigned value) { return Kokkos::atomic_fetch_add(word, value); }
  /// (Kokkos' atomic load is a compare-and-swap in 4.7: the teams that poll would serialise.)
  KOKKOS_FUNCTION static unsigned load(const unsigned* word) { return *static_cast<const volatile unsigned*>(word); }
  KOKKOS_FUNCTION static void give_up() { Kokkos::abort("a team of the league never arrived"); }
};

/// For the teams of a league, all on the device at once; `group`: `team_group` of this team.
template <class Member, class Barrier>
KOKKOS_INLINE_FUNCTION void league_barrier(const Member& team, const Group<Barrier>& group, unsigned* word) {
  league_barrier(group, team.league_rank(), team.league_size(), word, KokkosAtomics{});
}

/// Teams of this launch that the device holds at once; on a host one. The kernel's `LaunchBounds<max_lanes, teams>`
/// leave registers for `teams` teams of `max_lanes` on each multiprocessor, or for more that are smaller; their
/// scratch memory [bytes per team] must fit into what one team may have.
inline int teams_at_once(const kokkos::Exec& exec, int multiprocessors, int max_lanes, int teams, Launch launch,
                         std::size_t scratch_bytes = 0) {
  if (!kokkos::on_gpu) return 1;
  constexpr int always = 16;  // teams that a multiprocessor of every GPU holds
  const int subgroup = kokkos::Team::vector_length_max();
  const int lanes = ceil_div(launch.team * launch.vector, subgroup) * subgroup;
  int held = std::min(max_lanes * kokkos::launch_bound(teams), exec.concurrency() / multiprocessors) / lanes;
  if (scratch_bytes > 0) held = std::min(held, static_cast<int>(kokkos::scratch_limit(0) / scratch_bytes));
  return multiprocessors * std::clamp(held, 1, always);
}

}  // namespace league::blocks
