// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::blocks {

/// Adds one value of each of `lanes` lanes (a warp of 32, a wavefront of 64) in a tree; lane 0 has the sum.
/// `from_above(value, offset)` is the value of the lane `offset` above.
template <int lanes, class Value, class FromAbove>
LEAGUE_FUNCTION Value sum_lanes(Value value, const FromAbove& from_above) {
  static_assert((lanes & (lanes - 1)) == 0);
  for (int offset = lanes / 2; offset > 0; offset /= 2) value += from_above(value, offset);
  return value;
}

}  // namespace league::blocks
