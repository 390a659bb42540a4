// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_kokkos.hpp"

namespace league::blocks {

/// Scratch of `league_sums_for_all` in doubles, for teams of `threads`.
template <class Adder, int n>
constexpr int league_sums_size(int threads) {
  return received_size<n>(threads) + Adder::template scratch_size<n>(threads);
}

/// Adds over all threads of all teams, in the same order in each team; all threads get the sums. `alone`: there is one
/// team, and the code for several takes no registers. `Adder`: over a team, ScratchSums or NativeSums; `scratch`:
/// [league_sums_size]; `board`: [league_sums_words].
/// @pre all threads of all teams call, with `step` incremented each time
template <class Adder, bool alone, class T, int n, class Barrier>
KOKKOS_INLINE_FUNCTION Sums<double, n> league_sums_for_all(const Group<Barrier>& team, std::int64_t rank,
                                                           std::int64_t teams, const Sums<T, n>& mine, double* scratch,
                                                           stamped::Word* board, std::int64_t step) {
  double* of_threads = scratch + received_size<n>(team.size);
  const Sums<double, n> of_team = Adder::add(team, mine, of_threads, alone ? step : Adder::turn(teams, step));
  if constexpr (alone) return of_team;
  return league_all_reduce(team, Adder::receivers(team, teams, of_threads, step), rank, teams, of_team, board, step,
                           KokkosAtomics{}, scratch);
}

}  // namespace league::blocks
