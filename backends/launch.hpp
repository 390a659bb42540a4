// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "backends/backend.hpp"

namespace league {

/// What a device or a kernel can be launched with at most.
struct LaunchLimits {
  int team_times_vector = 1;  ///< threads of one block
  int vector = 1;             ///< lanes that can work together; a power of two
  std::string name;           ///< "CUDA", "Kokkos on OpenMP with 2 threads": for the message
};

/// The most teams of a league: kernels add the league's size to a team's number in 32 bits.
inline constexpr int max_league = 1 << 30;

/// `requested` where it is given, `standard` (the method's choice) elsewhere.
/// @throws Unsupported naming the limit that the launch exceeds
inline Launch resolve(Launch requested, Launch standard, const LaunchLimits& limits) {
  const auto pick = [](int wanted, int otherwise) { return wanted > 0 ? wanted : otherwise; };
  const Launch launch{pick(requested.league, standard.league), pick(requested.team, standard.team),
                      pick(requested.vector, standard.vector), pick(requested.tile, standard.tile)};
  if (launch.league > max_league)
    throw Unsupported("league " + std::to_string(launch.league) + ": kernels take up to " + std::to_string(max_league));
  if (launch.vector > limits.vector || (launch.vector & (launch.vector - 1)) != 0)
    throw Unsupported("vector length " + std::to_string(launch.vector) + ": " + limits.name +
                      " takes a power of two up to " + std::to_string(limits.vector));
  if (launch.team > limits.team_times_vector / launch.vector)
    throw Unsupported("team size " + std::to_string(launch.team) + " x vector length " + std::to_string(launch.vector) +
                      ": " + limits.name + " takes " + std::to_string(limits.team_times_vector) + " together");
  return launch;
}

/// For a kernel whose teams take scratch memory, of which a team has `most` bytes; runtimes have one that knows it.
/// @throws Unsupported "team size 1024: needs 73728 bytes of scratch memory, a team has 49152", where `what` comes
/// first
inline void require_scratch(std::size_t bytes, std::size_t most, const std::string& what) {
  if (bytes > most)
    throw Unsupported(what + ": needs " + std::to_string(bytes) + " bytes of scratch memory, a team has " +
                      std::to_string(most));
}

/// How many times `part` fits into `whole`, the last time perhaps not whole.
template <class Integer>
constexpr Integer ceil_div(Integer whole, Integer part) {
  return (whole + part - 1) / part;
}

/// A league that has a team for each of `items`, as far as an int can count them; one where there are none.
inline int league_of(std::int64_t items) {
  return static_cast<int>(std::clamp<std::int64_t>(items, 1, std::numeric_limits<int>::max()));
}

}  // namespace league
