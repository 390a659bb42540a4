// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/vectorised.hpp"
#include "backends/kokkos/kokkos.hpp"

/// Sums of a lane: some rows in the data's type, `side` partial sums of a value next to each other, then in double. On
/// a host both are a vector register, and nothing is added across one before the end.
namespace league::logistic::kokkos_model {

/// Doubles in the bytes of `side` values of T.
template <class T, int side>
constexpr int wide = std::max(1, side* int{sizeof(T)} / int{sizeof(double)});

/// Adds partial sums to those in double.
template <class T, int side>
KOKKOS_FORCEINLINE_FUNCTION void widen(const T (&parts)[side], double (&total)[wide<T, side>]) {
  constexpr int to = wide<T, side>;
  T folded[to];
  LEAGUE_VECTORISED
  for (int s = 0; s < to; ++s) {
    folded[s] = parts[s];
    for (int from = s + to; from < side; from += to) folded[s] += parts[from];
  }
  LEAGUE_VECTORISED
  for (int s = 0; s < to; ++s) total[s] += static_cast<double>(folded[s]);
}

/// The sum of those in double, in a fixed order.
template <int to>
KOKKOS_FORCEINLINE_FUNCTION double narrowed(const double (&total)[to]) {
  double sum = 0;
  for (int s = 0; s < to; ++s) sum += total[s];
  return sum;
}

/// `n` sums of a lane over packs of `width` rows.
template <class T, int n, int width, int side>
class PackSums {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void add(int i, const T (&terms)[width]) {
    for (int run = 0; run < width; run += side) {
      LEAGUE_VECTORISED
      for (int s = 0; s < side; ++s) parts_[i][s] += terms[run + s];
    }
  }
  /// After some packs: adds the first `used` sums to those in double.
  KOKKOS_FORCEINLINE_FUNCTION void flush(int used) {
    for (int i = 0; i < n; ++i) {
      if (i >= used) break;
      widen(parts_[i], totals_[i]);
      LEAGUE_VECTORISED
      for (int s = 0; s < side; ++s) parts_[i][s] = 0;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void leave(double (&sums)[n]) const {
    for (int i = 0; i < n; ++i) sums[i] = narrowed(totals_[i]);
  }

 private:
  T parts_[n][side] = {};
  double totals_[n][wide<T, side>] = {};
};

}  // namespace league::logistic::kokkos_model
