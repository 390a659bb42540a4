// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/backend.hpp"
#include "backends/portable.hpp"

namespace league::blocks {

/// Range `number` of `pieces` ranges of consecutive rows: on hosts, one per thread.
LEAGUE_FUNCTION Range piece(std::int64_t rows, std::int64_t number, std::int64_t pieces) {
  const std::int64_t size = (rows + pieces - 1) / pieces;
  const auto clamped = [rows](std::int64_t i) { return i < rows ? i : rows; };
  return {clamped(number * size), clamped((number + 1) * size)};
}

/// Several sums reduced together, such as a gradient and a loss. Initially 0.
template <class T, int n>
struct Sums {
  static constexpr int size = n;
  T values[n] = {};
  LEAGUE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int i = 0; i < n; ++i) values[i] += other.values[i];
    return *this;
  }
};

/// Up to this many sums, a thread keeps all of them in registers while it adds partials.
inline constexpr int few_sums = 8;

/// Adds `count` consecutive sums in order, even and odd ones separately: two chains hide half of the latency.
template <int n>
LEAGUE_FUNCTION Sums<double, n> ordered_sums(const double* values, int count) {
  Sums<double, n> even, odd;
  int k = 0;
  for (; k + 1 < count; k += 2)
    for (int i = 0; i < n; ++i) even.values[i] += values[k * n + i], odd.values[i] += values[(k + 1) * n + i];
  for (int i = 0; k < count && i < n; ++i) even.values[i] += values[k * n + i];
  return even += odd;
}

}  // namespace league::blocks
