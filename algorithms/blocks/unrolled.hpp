// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "backends/portable.hpp"

namespace league::blocks {

/// Calls `body(0)` to `body(n - 1)`, as a pack expansion instead of a loop: always unrolled, so that arrays stay in
/// registers.
template <int n, class Body>
LEAGUE_FUNCTION void unrolled(const Body& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (body(i), ...); }(std::make_integer_sequence<int, n>{});
}

/// Calls `body(0)` to `body(n - 1)`: on GPUs unrolled, so that the sums of a matrix unit stay in registers.
template <class Unit, int n, class Body>
LEAGUE_FUNCTION void each(const Body& body) {
  if constexpr (Unit::lanes > 1)
    unrolled<n>(body);
  else
    for (int i = 0; i < n; ++i) body(i);
}

/// value(0) + ... + value(count - 1), in this order; `together` values are read before they are added, so that loads
/// from memory overlap.
template <int together, class Value>
LEAGUE_FUNCTION auto sum_in_order(int count, const Value& value) {
  decltype(value(0)) sum = 0;
  for (int first = 0; first < count; first += together) {
    decltype(value(0)) next[together];
    unrolled<together>([&](int n) { next[n] = first + n < count ? value(first + n) : 0; });
    unrolled<together>([&](int n) { sum += next[n]; });
  }
  return sum;
}

/// The sum of n values, a power of two, in a tree.
template <int n, class T>
LEAGUE_FUNCTION T sum_in_pairs(const T (&values)[n]) {
  static_assert((n & (n - 1)) == 0);
  if constexpr (n == 1) {
    return values[0];
  } else {
    T sums[n / 2];
    unrolled<n / 2>([&](int i) { sums[i] = values[2 * i] + values[2 * i + 1]; });
    return sum_in_pairs(sums);
  }
}

}  // namespace league::blocks
