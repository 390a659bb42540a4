// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/sums_native_kokkos.hpp"
#include "algorithms/sum/common/kokkos.hpp"
#include "algorithms/sum/common/lanes.hpp"

/// What the specialised sums share: the native lanes' sums, added over a team by the native shuffles.
namespace league::kokkos::sum::specialised {

using namespace league::sum;

/// A lane's share of `size` elements.
template <class T>
KOKKOS_INLINE_FUNCTION Total<T> sum_of_lane(const T* from, int size, int lane, int lanes) {
  if constexpr (on_gpu)
    return lane_sum(from, size, lane, lanes);
  else
    return host_lane_sum(from, size, lane, lanes);
}

inline auto scratch(int lanes) {
  return Kokkos::PerTeam(ceil_div<std::size_t>(lanes, blocks::NativeLanes::size) * sizeof(double));
}

/// A function that gives the sum of `share(lane)` over a team. @pre all threads call it; the team has `scratch(lanes)`
template <class V>
KOKKOS_INLINE_FUNCTION auto adder(const Member& team, int lanes) {
  const auto group = blocks::native_group(team, lanes);
  auto* memory = static_cast<V*>(team.team_scratch(0).get_shmem(lanes / blocks::NativeLanes::size * sizeof(V)));
  return [group, memory](const auto& share) { return blocks::native_team_sum(group, share(group.rank), memory); };
}

/// Chunks per team at a time: on a host enough to amortise its start.
inline int run_of(Chunks chunks) {
  constexpr int worth_a_start = 1 << 15;  // elements
  return on_gpu ? 1 : ceil_div(worth_a_start, chunks.chunk);
}

// One team takes all partial sums.
template <class T>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  using V = Total<T>;
  const int team_size = on_gpu ? finish_team(count) : 1;
  Kokkos::parallel_for(
      "sum/finish", Team(on.exec, 1, team_size, 1).set_scratch_size(0, scratch(team_size)),
      KOKKOS_LAMBDA(const Member& team) {
        const int lanes =
            team.team_size();  // a run-time value: with a constant the compiler unrolls, with fewer loads in flight
        const V total = adder<V>(team, lanes)([&](int lane) { return sum_of_lane(partials, count, lane, lanes); });
        blocks::once_per_team(team, [&] { *sum = total; });
      });
}

/// @throws Unsupported unless a team is whole subgroups
inline Launch configure(Queue& queue, Launch launch, Chunks chunks) {
  launch = resolve(launch, on_gpu ? Launch{0, 256, 1} : Launch{0, 1, 1}, limits(queue));
  blocks::require_whole_subgroups(launch.team * launch.vector, blocks::NativeLanes::size);
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(chunks.count, run_of(chunks)));
  return launch;
}

}  // namespace league::kokkos::sum::specialised
