// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/pairs.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

// A functor: nvcc 13.0 gives a lambda of a function that two files instantiate alike no copy function.
template <class Body>
struct ForItems {
  Body body;
  std::int64_t items, lanes;
  KOKKOS_FUNCTION void operator()(const kokkos::Member& team) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](std::int64_t lane) {
      for (std::int64_t item = team.league_rank() * lanes + lane; item < items; item += team.league_size() * lanes)
        body(item);
    });
  }
};

/// The limits of naive kernels. On a host a team is one thread: they have barriers every few elements, which cost more
/// there than the elements.
inline LaunchLimits naive_limits(const Queue& queue) {
  return kokkos::on_gpu ? kokkos::limits(queue) : LaunchLimits{1, 1, "a naive kernel on a host"};
}

/// A kernel that calls `body(item)` for every item; a lane takes every lanes-th one of the league.
template <class Body>
void for_items(const char* label, const kokkos::Exec& exec, Launch launch, std::int64_t items, const Body& body) {
  const kokkos::Team policy(exec, busy_league(launch, items), launch.team, launch.vector);
  Kokkos::parallel_for(label, policy, ForItems<Body>{body, items, launch.team * launch.vector});
}

}  // namespace league::blocks
