// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_kokkos.hpp"

namespace league::blocks {

/// Adds over all threads of all teams, in the same order in each team; all threads get the sums. `alone`: there is one
/// team, and the code for several takes no registers. `scratch`: `team_sums_size` doubles.
/// @pre all threads of all teams call, with `step` incremented each time
template <bool alone, class T, int n, class Barrier>
KOKKOS_INLINE_FUNCTION Sums<double, n> league_sums_for_all(const Group<Barrier>& team, std::int64_t rank,
                                                           std::int64_t teams, const Sums<T, n>& mine, double* scratch,
                                                           stamped::Word* board, std::int64_t step) {
  const auto of_team = sums_for_all(team, mine, scratch);
  if constexpr (alone)
    return of_team;
  else
    return league_all_reduce(team, rank, teams, of_team, board, step, KokkosAtomics{},
                             [&](const Sums<double, n>& sums) { return sums_for_all(team, sums, scratch); });
}

}  // namespace league::blocks
