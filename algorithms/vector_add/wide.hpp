// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "backends/launch.hpp"
#include "backends/portable.hpp"

namespace league {

/// 16 bytes of neighbouring elements: one access of a GPU thread.
template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T values[size];
  LEAGUE_FUNCTION Pack operator+(const Pack& other) const {
    Pack sum;
    for (int i = 0; i < size; ++i) sum.values[i] = values[i] + other.values[i];
    return sum;
  }
};

/// Packs that a work item loads before its first store: 4 x 2 x 16 bytes in flight a thread fill an H200's memory
/// queue.
inline constexpr int packs_a_lane = 4;

/// A league in which every team has one block of `tile` elements, as far as an int can count them.
inline int league_for(std::int64_t n, int tile) {
  const std::int64_t blocks = ceil_div(n, std::int64_t{tile});
  return static_cast<int>(std::clamp<std::int64_t>(blocks, 1, std::numeric_limits<int>::max()));
}

}  // namespace league
