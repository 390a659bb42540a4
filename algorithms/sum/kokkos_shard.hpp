// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/sum/shards.hpp"
#include "backends/kokkos/pass.hpp"

/// What the sums in Kokkos share: the second stage, a lane's share of a chunk.
namespace league::kokkos::sum {

using namespace league::sum;

template <class V>
using Value = Kokkos::View<V, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A lane's share of `size` elements.
template <class T>
KOKKOS_INLINE_FUNCTION Total<T> sum_of_lane(const T* from, int size, int lane, int lanes) {
  if constexpr (on_gpu)
    return lane_sum(from, size, lane, lanes);
  else
    return host_lane_sum(from, size, lane, lanes);
}

// One team takes all partial sums.
template <class T>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  using V = Total<T>;
  Kokkos::parallel_for(
      "sum/finish", Team(on.exec, 1, on_gpu ? finish_team(count) : 1, 1), KOKKOS_LAMBDA(const Member& team) {
        const int lanes =
            team.team_size();  // a run-time value: with a constant the compiler unrolls, with fewer loads in flight
        V total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, V& mine) { mine += sum_of_lane(partials, count, lane, lanes); }, total);
        Kokkos::single(Kokkos::PerTeam(team), [&] { *sum = total; });
      });
}

}  // namespace league::kokkos::sum
