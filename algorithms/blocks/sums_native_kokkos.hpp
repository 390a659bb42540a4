// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/no_unroll.hpp"
#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/blocks/sums_kokkos.hpp"

namespace league::blocks {

/// The sum over a team by the native shuffles and barrier, in thread 0, as `block_sums` of CUDA. `scratch`: one value
/// per subgroup. @pre whole subgroups; all threads call
template <class T, class Barrier>
KOKKOS_FUNCTION T native_team_sum(const Group<Barrier>& team, T mine, T* scratch) {
  const NativeLanes lanes{team.rank % NativeLanes::size};
  const int subgroup = team.rank / NativeLanes::size, subgroups = team.size / NativeLanes::size;
  mine = lanes.sum(mine);
  team.barrier();  // earlier values have been read
  if (lanes.rank == 0) scratch[subgroup] = mine;
  team.barrier();
  if (subgroup != 0) return mine;
  mine = T{};
  LEAGUE_NO_UNROLL
  for (int i = lanes.rank; i < subgroups; i += NativeLanes::size) mine += scratch[i];
  return lanes.sum(mine);
}

/// Adds over a team by the native shuffles and barrier, as `sums_for_all` of CUDA does: subgroups shuffle, then every
/// thread adds their sums in order; one barrier. For kernels that are written over a way to add: `ScratchSums`, which
/// is portable, or this one.
struct NativeSums {
  /// Scratch of `add` in doubles.
  template <int n>
  static constexpr int scratch_size(int lanes) {
    return 2 * n * ceil_div(lanes, NativeLanes::size);
  }
  /// @throws Unsupported if the team is not whole subgroups
  static void require(int lanes) { require_whole_subgroups(lanes, NativeLanes::size); }
  template <class Member>
  KOKKOS_FUNCTION static auto group(const Member& team, int lanes) {
    return native_group(team, lanes);
  }
  /// All threads get the sums. `scratch` is double-buffered by `turn`: a new turn does not overwrite what slower
  /// threads still read. @pre all threads call, with `turn` incremented each time
  template <class T, int n, class Barrier>
  KOKKOS_FUNCTION static Sums<double, n> add(const Group<Barrier>& team, Sums<T, n> mine, double* scratch,
                                             std::int64_t turn) {
    const NativeLanes lanes{team.rank % NativeLanes::size};
    const int subgroup = team.rank / NativeLanes::size, subgroups = team.size / NativeLanes::size;
    mine = over_lanes(lanes, mine);
    T* of_subgroups = reinterpret_cast<T*>(scratch + (turn & 1) * n * subgroups);
    if (lanes.rank == 0)
      for (int i = 0; i < n; ++i) of_subgroups[subgroup * n + i] = mine.values[i];
    team.barrier();
    return ordered_sums<n>(of_subgroups, subgroups);
  }
  /// For `league_all_reduce`: where one subgroup can receive the sums of all teams, each of a team's does, which saves
  /// a barrier; else its threads share them. The threads of a subgroup go on together: where they leave a loop one by
  /// one, each shuffle after it is a call.
  template <class Barrier>
  struct Receivers {
    Group<Barrier> team;
    bool each_subgroup;
    double* scratch;
    std::int64_t turn;
    [[nodiscard]] KOKKOS_FUNCTION int rank() const { return each_subgroup ? team.rank % NativeLanes::size : team.rank; }
    [[nodiscard]] KOKKOS_FUNCTION int size() const { return each_subgroup ? NativeLanes::size : team.size; }
    [[nodiscard]] KOKKOS_FUNCTION static bool all(bool here) { return NativeLanes::all(here); }
    template <int n>
    [[nodiscard]] KOKKOS_FUNCTION Sums<double, n> sum(const Sums<double, n>& mine) const {
      return each_subgroup ? over_lanes(NativeLanes{team.rank % NativeLanes::size}, mine)
                           : add(team, mine, scratch, turn);
    }
  };
  template <class Barrier>
  KOKKOS_FUNCTION static Receivers<Barrier> receivers(const Group<Barrier>& team, std::int64_t teams, double* scratch,
                                                      std::int64_t step) {
    return {team, each_subgroup(teams), scratch, 2 * step + 1};
  }
  /// The turn of a step's first `add`, before the receivers'.
  KOKKOS_FUNCTION static std::int64_t turn(std::int64_t teams, std::int64_t step) {
    return each_subgroup(teams) ? step : 2 * step;
  }

 private:
  KOKKOS_FUNCTION static bool each_subgroup(std::int64_t teams) { return teams <= NativeLanes::size; }
  /// A butterfly per sum; independent shuffles hide each other's latency.
  template <class T, int n>
  KOKKOS_FUNCTION static Sums<T, n> over_lanes(NativeLanes lanes, Sums<T, n> sums) {
    for (int offset = NativeLanes::size / 2; offset > 0; offset /= 2)
      for (int i = 0; i < n; ++i) sums.values[i] += lanes.across(sums.values[i], offset);
    return sums;
  }
};

}  // namespace league::blocks
