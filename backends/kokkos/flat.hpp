// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>

#include "backends/kokkos/kokkos.hpp"

/// What flat Kokkos leaves to Kokkos, and the one choice that it has: the block size of a range on a GPU.
namespace league::kokkos {

/// The launch of a flat kernel: no team, or, on a GPU, a block size that `with_range` knows.
/// @throws Unsupported for any other launch
inline Launch resolve_flat(Launch launch) {
  const bool known = launch.team == 0 || (on_gpu && (launch.team == 64 || launch.team == 128 || launch.team == 256 ||
                                                     launch.team == 512 || launch.team == 1024));
  if (!known || launch != Launch{0, launch.team})
    throw Unsupported(on_gpu
                          ? "a flat kernel takes a team of 64, 128, 256, 512 or 1024, its block size, and nothing else"
                          : "Kokkos chooses the launch of a flat kernel on a host");
  return launch;
}

/// The launch of a flat kernel over cells: the tile of its MDRangePolicy, `vector` x `team` x `tile` cells along x, y
/// and z; nothing: Kokkos' choice. @throws Unsupported for a league, for half a tile, for one beyond a block of the
/// device
inline Launch resolve_flat_tile(const Queue& queue, Launch launch) {
  if (launch == Launch{}) return launch;
  if (launch.league != 0 || launch.team == 0 || launch.vector == 0)
    throw Unsupported("a flat kernel over cells takes a tile, vector x team x tile cells, and nothing else");
  launch.tile = std::max(launch.tile, 1);
  const std::int64_t cells = std::int64_t{launch.vector} * launch.team * launch.tile;
  if (on_gpu && cells > limits(queue).team_times_vector)
    throw Unsupported("a tile of " + std::to_string(cells) + " cells: a block has " +
                      std::to_string(limits(queue).team_times_vector) + " threads");
  return launch;
}

/// Calls `body(policy)` with a range of `n` iterations, whose block size on a GPU is `team`; 0: Kokkos' choice.
template <class Body>
void with_range(const Exec& exec, int team, std::int64_t n, const Body& body) {
  using Index = Kokkos::IndexType<std::int64_t>;
  const auto bounded = [&]<unsigned size>() {
    body(Kokkos::RangePolicy<Exec, Index, Kokkos::LaunchBounds<size, 1>>(exec, 0, n));
  };
  switch (team) {
    case 64:
      return bounded.template operator()<64>();
    case 128:
      return bounded.template operator()<128>();
    case 256:
      return bounded.template operator()<256>();
    case 512:
      return bounded.template operator()<512>();
    case 1024:
      return bounded.template operator()<1024>();
    default:
      body(Kokkos::RangePolicy<Exec, Index>(exec, 0, n));
  }
}

}  // namespace league::kokkos
