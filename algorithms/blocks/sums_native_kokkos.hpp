// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_native_kokkos.hpp"
#include "algorithms/blocks/subgroup_native.hpp"
#include "algorithms/blocks/sums_kokkos.hpp"

namespace league::blocks {

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
    for (int offset = NativeLanes::size / 2; offset > 0; offset /= 2)  // independent shuffles hide each other's latency
      for (int i = 0; i < n; ++i) mine.values[i] += lanes.across(mine.values[i], offset);
    T* of_subgroups = reinterpret_cast<T*>(scratch + (turn & 1) * n * subgroups);
    if (lanes.rank == 0)
      for (int i = 0; i < n; ++i) of_subgroups[subgroup * n + i] = mine.values[i];
    team.barrier();
    return ordered_sums<n>(of_subgroups, subgroups);
  }
};

}  // namespace league::blocks
