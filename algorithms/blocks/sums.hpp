// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::blocks {

/// Several sums that are added together: a gradient and a loss. Zeros at first.
template <class T, int n>
struct Sums {
  static constexpr int size = n;
  T values[n] = {};
  LEAGUE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int i = 0; i < n; ++i) values[i] += other.values[i];
    return *this;
  }
};

/// Adds one value of each of `lanes` lanes in a tree; lane 0 has the sum. `from_above(value, offset)` is the value of
/// the lane `offset` above.
template <int lanes, class Value, class FromAbove>
LEAGUE_FUNCTION Value sum_lanes(Value value, const FromAbove& from_above) {
  static_assert((lanes & (lanes - 1)) == 0);
  for (int offset = lanes / 2; offset > 0; offset /= 2) value += from_above(value, offset);
  return value;
}

}  // namespace league::blocks
