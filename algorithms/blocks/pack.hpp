// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::blocks {

/// Neighbouring elements moved together: one vector access of a GPU thread (16 bytes), one cache line of a host (64).
template <class T, int bytes = 16>
struct alignas(bytes) Pack {
  static constexpr int size = bytes / static_cast<int>(sizeof(T));
  T values[size];
  LEAGUE_FUNCTION Pack operator+(const Pack& other) const {
    Pack sum;
    for (int i = 0; i < size; ++i) sum.values[i] = static_cast<T>(values[i] + other.values[i]);
    return sum;
  }
  LEAGUE_FUNCTION friend Pack operator*(T factor, const Pack& pack) {
    Pack product;
    for (int i = 0; i < size; ++i) product.values[i] = static_cast<T>(factor * pack.values[i]);
    return product;
  }
};

}  // namespace league::blocks
