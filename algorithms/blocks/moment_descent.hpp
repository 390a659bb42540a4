// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/unrolled.hpp"

/// Gradient descent on a sum of squares, |X theta - y|^2 = theta^T H theta - 2 theta^T r + s: its gradient and its
/// value need no more of the data than H = X^T X, r = X^T y and s = y^T y.
namespace league::blocks {

/// Of `n` unknowns; H is symmetric, row by row from the diagonal on.
template <int n>
struct Moments {
  double products[n * (n + 1) / 2], right[n], square;

  [[nodiscard]] LEAGUE_FUNCTION static constexpr int at(int i, int j) {
    const int low = i < j ? i : j, high = i < j ? j : i;
    return low * n - low * (low - 1) / 2 + high - low;
  }
};

struct Descent {
  double rate;   ///< theta <- theta - rate (H theta - r)
  double scale;  ///< of the sum of squares: the loss
  std::int64_t steps;
};

/// One thread takes all steps in its registers: theta, and the `loss` [steps] before each. A step waits for the n + 1
/// multiply-adds of a gradient's entry and its update; entries are independent, and nothing waits for the loss.
template <int n>
LEAGUE_FUNCTION void descend(const Moments<n>& of, const Descent& descent, double (&theta)[n], double* loss) {
  for (std::int64_t step = 0; step < descent.steps; ++step) {
    double slope[n], square = of.square;
    unrolled<n>([&](int i) { slope[i] = -of.right[i]; });
    unrolled<n * n>([&](int at) {
      const int i = at % n, j = at / n;
      slope[i] += of.products[Moments<n>::at(i, j)] * theta[j];
    });
    unrolled<n>([&](int i) { square += theta[i] * (slope[i] - of.right[i]); });
    loss[step] = square < 0 ? 0 : descent.scale * square;  // below zero: rounding
    unrolled<n>([&](int i) { theta[i] -= descent.rate * slope[i]; });
  }
}

}  // namespace league::blocks
