// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "backends/backend.hpp"

namespace league {

/// Maximum launch parameters of a device or kernel.
struct LaunchLimits {
  int team_times_vector = 1;  ///< threads of one block
  int vector = 1;             ///< maximum vector length; a power of two
  std::string name;           ///< "CUDA", "Kokkos on OpenMP with 2 threads": for the message
};

/// Maximum league size: kernels compute team index + league size in 32 bits.
inline constexpr int max_league = 1 << 30;

/// `requested` where given, else `defaults` (the method's).
/// @throws Unsupported naming the limit that the launch exceeds
Launch resolve(Launch requested, Launch defaults, const LaunchLimits& limits);

/// Checks scratch memory per team against `available` bytes; runtimes have overloads that fill it in.
/// @throws Unsupported "team size 1024: needs 73728 bytes of scratch memory, a team has 49152", where `what` comes
/// first
void require_scratch(std::size_t bytes, std::size_t available, const std::string& what);

/// `whole / part`, rounded up.
template <class Integer>
constexpr Integer ceil_div(Integer whole, Integer part) {
  return (whole + part - 1) / part;
}

/// A league with one team per item, clamped to int; at least one.
inline int league_of(std::int64_t items) {
  return static_cast<int>(std::clamp<std::int64_t>(items, 1, std::numeric_limits<int>::max()));
}

}  // namespace league
