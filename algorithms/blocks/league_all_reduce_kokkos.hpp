// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier.hpp"

namespace league::blocks {

/// The value that another team publishes with this stamp.
KOKKOS_INLINE_FUNCTION double await(const stamped::Word* low, const stamped::Word* high, unsigned stamp) {
  double value = 0;
  for (unsigned polls = 0; !stamped::arrived(low, high, stamp, value); ++polls)
    if (polls == max_polls) Kokkos::abort("league_all_reduce: a team of the league never sent its sums");
  return value;
}

/// Adds the sums of all teams, in the same order in each; all threads get them. A thread adds one value, its vector
/// lanes the teams. `totals`: scratch memory [2 x n].
/// @pre all threads of all teams call, with `step` incremented each time
template <int n>
KOKKOS_INLINE_FUNCTION Sums<double, n> league_all_reduce(const kokkos::Member& team, int vector,
                                                         const Sums<double, n>& of_team, stamped::Word* board,
                                                         double* totals, std::int64_t step) {
  const auto slots = Slots<n>::of(board, team.league_size(), step);
  slots.send(team_group(team, team.team_size() * vector), team.league_rank(), of_team);
  double* of_step = totals + (step & 1) * n;
  const int values = n;
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, values), [&](int i) {
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, slots.teams),
        [&](std::int64_t other, double& mine) {
          mine += await(slots.low + i * slots.teams + other, slots.high + i * slots.teams + other, slots.stamp);
        },
        sum);
    Kokkos::single(Kokkos::PerThread(team), [&] { of_step[i] = sum; });
  });
  team.team_barrier();
  return sums_in<n>(of_step);
}

}  // namespace league::blocks
