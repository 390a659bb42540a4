// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/pack.hpp"
#include "backends/portable.hpp"

/// The chunks of an array, and what is added up in them.
namespace league::sum {

/// Accumulator type of values of type T.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// The chunks of a shard: `count` chunks of `chunk` elements, the last one perhaps smaller; `size` elements in all.
struct Chunks {
  std::int64_t count = 0, size = 0;
  int chunk = 1;
  [[nodiscard]] LEAGUE_FUNCTION int size_of(std::int64_t index) const {
    const std::int64_t rest = size - index * chunk;
    return rest < chunk ? static_cast<int>(rest) : chunk;
  }
};

/// Additions in float per value: a few neighbours are added in float, the rest in double.
inline constexpr int float_additions = 4;

/// Packs in flight per lane: 4 x 16 bytes per thread are enough to saturate an H200's memory.
inline constexpr int at_once = 4;

/// Size of the GPU team that adds `count` partial sums: whole warps, enough to have all loads in flight at once,
/// clamped to the maximum team size. The order of additions depends on the count only.
inline int finish_team(std::int64_t count) {
  constexpr std::int64_t min_lanes = 64, max_lanes = 1024, a_lane = at_once * blocks::Pack<double>::size;
  return static_cast<int>(std::clamp(
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count))) / a_lane, min_lanes, max_lanes));
}

}  // namespace league::sum
