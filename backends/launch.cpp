// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/launch.hpp"

namespace league {

Launch resolve(Launch requested, Launch defaults, const LaunchLimits& limits) {
  const auto pick = [](int wanted, int otherwise) { return wanted > 0 ? wanted : otherwise; };
  const Launch launch{pick(requested.league, defaults.league), pick(requested.team, defaults.team),
                      pick(requested.vector, defaults.vector), pick(requested.tile, defaults.tile)};
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

void require_scratch(std::size_t bytes, std::size_t available, const std::string& what) {
  if (bytes > available)
    throw Unsupported(what + ": needs " + std::to_string(bytes) + " bytes of scratch memory, a team has " +
                      std::to_string(available));
}

}  // namespace league
