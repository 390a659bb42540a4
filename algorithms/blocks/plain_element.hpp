// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::blocks {

/// Conversions of an element for packing: `Packed` is its type in memory; it is widened to that of the sums.
template <class T>
struct PlainElement {
  using Packed = T;
  LEAGUE_FUNCTION static T pack(T value) { return value; }
  LEAGUE_FUNCTION static T widen(T value) { return value; }
  LEAGUE_FUNCTION static T padding() { return T{0}; }  ///< widens to 0
};

}  // namespace league::blocks
