// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// Adds over the league what `parallel_reduce` has added over each team, in an order that depends on the launch alone:
/// every team leaves its sums in `partials` [n x teams], and the last one to come adds them into `sums` [n].
/// @pre `ticket` is 0, and is again afterwards; all threads call
/// @returns whether this team was the last: its threads see `sums` after a barrier
template <class T, int n>
KOKKOS_INLINE_FUNCTION bool league_sums(const kokkos::Member& team, const Sums<T, n>& of_team, double* partials,
                                        unsigned* ticket, double* sums) {
  const auto teams = static_cast<std::int64_t>(team.league_size());
  int last = 0;
  Kokkos::single(
      Kokkos::PerTeam(team),
      [&](int& is_last) {
        for (int i = 0; i < n; ++i) partials[i * teams + team.league_rank()] = static_cast<double>(of_team.values[i]);
        Kokkos::memory_fence();
        is_last = Kokkos::atomic_fetch_add(ticket, 1U) + 1 == static_cast<unsigned>(teams) ? 1 : 0;
      },
      last);
  if (last == 0) return false;
  Kokkos::memory_fence();
  Sums<double, n> total;
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, teams),
      [&](std::int64_t rank, Sums<double, n>& sum) {
        for (int i = 0; i < n; ++i) sum.values[i] += partials[i * teams + rank];
      },
      total);
  Kokkos::single(Kokkos::PerTeam(team), [&] {
    for (int i = 0; i < n; ++i) sums[i] = total.values[i];
    *ticket = 0;
  });
  return true;
}

}  // namespace league::blocks
