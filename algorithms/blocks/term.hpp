// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

/// What a tile adds per feature of two rows: for scalars, and for host vectors.
namespace league::blocks {

struct ProductTerm {
  template <class V>
  LEAGUE_FUNCTION static V add(const V& sum, const V& x, const V& y) {
    return sum + x * y;
  }
};

struct DifferenceTerm {
  template <class V>
  LEAGUE_FUNCTION static V add(const V& sum, const V& x, const V& y) {
    const V difference = x - y;
    return sum + difference * difference;
  }
};

}  // namespace league::blocks
