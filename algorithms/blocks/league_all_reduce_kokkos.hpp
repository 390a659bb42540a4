// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier_kokkos.hpp"
#include "algorithms/blocks/sums_native_kokkos.hpp"

namespace league::blocks {

/// Scratch of `league_sums_for_all` in doubles, for teams of `threads`.
template <int n>
constexpr int league_sums_size(int threads) {
  return received_size<n>(threads) + NativeSums::scratch_size<n>(threads);
}

/// Adds over all threads of all teams, in the same order in each team; all threads get the sums. `alone`: there is one
/// team, and the code for several takes no registers. `scratch`:
/// [league_sums_size]; `board`: [league_sums_words].
/// @pre all threads of all teams call, with `step` incremented each time
template <bool alone, class T, int n, class Barrier>
KOKKOS_INLINE_FUNCTION Sums<double, n> league_sums_for_all(const Group<Barrier>& team, std::int64_t rank,
                                                           std::int64_t teams, const Sums<T, n>& mine, double* scratch,
                                                           stamped::Word* board, std::int64_t step) {
  double* of_threads = scratch + received_size<n>(team.size);
  const Sums<double, n> of_team = NativeSums::add(team, mine, of_threads, alone ? step : NativeSums::turn(teams, step));
  if constexpr (alone) return of_team;
  return league_all_reduce(team, NativeSums::receivers(team, teams, of_threads, step), rank, teams, of_team, board,
                           step, KokkosAtomics{}, scratch);
}

}  // namespace league::blocks
