// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/no_unroll.hpp"
#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/blocks/sums_native.hpp"

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
/// thread adds their sums in order; one barrier.
struct NativeSums {
  using Threads = NativeThreads;
  /// Scratch of `add` in doubles.
  template <int n>
  static constexpr int scratch_size(int lanes) {
    return 2 * n * ceil_div(lanes, NativeLanes::size);
  }
  /// @throws Unsupported if the team is not whole subgroups
  static void require(int lanes) { require_whole_subgroups(lanes, NativeLanes::size); }
  /// All threads get the sums. `scratch` is double-buffered by `turn`: a new turn does not overwrite what slower
  /// threads still read. @pre all threads call, with `turn` incremented each time
  template <class T, int n, class Barrier>
  KOKKOS_FUNCTION static Sums<double, n> add(const Group<Barrier>& team, const Sums<T, n>& mine, double* scratch,
                                             std::int64_t turn) {
    const int subgroup = team.rank / NativeLanes::size, subgroups = team.size / NativeLanes::size;
    T* of_subgroups = reinterpret_cast<T*>(scratch + (turn & 1) * n * subgroups);
    leave_sums_over_lanes(NativeLanes{team.rank % NativeLanes::size}, mine, of_subgroups + subgroup * n);
    team.barrier();
    return ordered_sums<n>(of_subgroups, subgroups);
  }
  /// For `league_all_reduce`.
  template <class Barrier>
  KOKKOS_FUNCTION static auto receivers(const Group<Barrier>& team, std::int64_t teams, double* scratch,
                                        std::int64_t step) {
    return native_receivers(team, teams,
                            [=](const auto& mine) { return add(team, mine, scratch, received_turn(step)); });
  }
  /// The turn of a step's first `add`, before the receivers'.
  KOKKOS_FUNCTION static std::int64_t turn(std::int64_t teams, std::int64_t step) { return own_turn(teams, step); }
};

}  // namespace league::blocks
