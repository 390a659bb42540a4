// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/subgroup.hpp"
#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/blocks/sums.hpp"

/// Sums over a subgroup, the same in CUDA and Kokkos.
namespace league::blocks {

/// Adds over a subgroup; all its lanes get the sums. A butterfly per sum; independent shuffles hide each other's
/// latency.
template <class T, int n>
LEAGUE_FUNCTION Sums<T, n> sums_over_lanes(NativeLanes lanes, Sums<T, n> sums) {
  for (int offset = NativeLanes::size / 2; offset > 0; offset /= 2)
    for (int i = 0; i < n; ++i) sums.values[i] += lanes.across(sums.values[i], offset);
  return sums;
}

/// Leaves the sums of a subgroup in `of_subgroup` [n]: few by a butterfly each. @pre all its lanes call
template <class T, int n>
LEAGUE_FUNCTION void leave_sums_over_lanes(NativeLanes lanes, const Sums<T, n>& mine, T* of_subgroup) {
  if constexpr (n > few_sums) {
    put_sums_over_lanes(lanes, mine.values, [&](int i, T sum) { of_subgroup[i] = sum; });
  } else {
    const Sums<T, n> sums = sums_over_lanes(lanes, mine);
    if (lanes.rank == 0)
      for (int i = 0; i < n; ++i) of_subgroup[i] = sums.values[i];
  }
}

/// For `league_all_reduce`: where one subgroup can receive the sums of all teams, each of a team's does, which saves a
/// barrier; else its threads share them, and `add_over_team` adds theirs. The lanes of a subgroup go on together: where
/// they leave a loop one by one, each shuffle after it is a call.
template <class Barrier, class AddOverTeam>
struct NativeReceivers {
  Group<Barrier> team;
  bool each_subgroup;
  AddOverTeam add_over_team;
  [[nodiscard]] LEAGUE_FUNCTION int rank() const { return each_subgroup ? lanes().rank : team.rank; }
  [[nodiscard]] LEAGUE_FUNCTION int size() const { return each_subgroup ? NativeLanes::size : team.size; }
  [[nodiscard]] LEAGUE_FUNCTION static bool all(bool here) { return NativeLanes::all(here); }
  template <int n>
  [[nodiscard]] LEAGUE_FUNCTION Sums<double, n> sum(const Sums<double, n>& mine) const {
    return each_subgroup ? sums_over_lanes(lanes(), mine) : add_over_team(mine);
  }

 private:
  [[nodiscard]] LEAGUE_FUNCTION NativeLanes lanes() const { return NativeLanes{team.rank % NativeLanes::size}; }
};
LEAGUE_FUNCTION bool each_subgroup_receives(std::int64_t teams) { return teams <= NativeLanes::size; }
template <class Barrier, class AddOverTeam>
LEAGUE_FUNCTION NativeReceivers<Barrier, AddOverTeam> native_receivers(const Group<Barrier>& team, std::int64_t teams,
                                                                       const AddOverTeam& add_over_team) {
  return {team, each_subgroup_receives(teams), add_over_team};
}
/// The turn of the first sum over a team in step `step`, and of the receivers' `add_over_team`: turns alternate.
LEAGUE_FUNCTION std::int64_t own_turn(std::int64_t teams, std::int64_t step) {
  return each_subgroup_receives(teams) ? step : 2 * step;
}
LEAGUE_FUNCTION std::int64_t received_turn(std::int64_t step) { return 2 * step + 1; }

}  // namespace league::blocks
