// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/polynomial_fit/polynomial_fit.hpp"
#include "backends/portable.hpp"

/// What kernels of all models do with a point, and what a step does with the sums of all.
namespace league::polynomial_fit {

/// The points of one shard.
template <class T>
struct Points {
  const T *x, *y;
  std::int64_t count;
};

/// Sums over points: error x^p for p = 0..3, and the error's square.
inline constexpr int terms = PolynomialFit::terms, sums_per_step = terms + 1;

/// The coefficients in the kernel's type.
template <class T>
struct Cubic {
  T values[terms];
  LEAGUE_FUNCTION static Cubic of(const double* theta) {
    Cubic cubic;
    for (int p = 0; p < terms; ++p) cubic.values[p] = static_cast<T>(theta[p]);
    return cubic;
  }
};

/// The powers of a point; V is T, or a vector of T for as many points.
template <class V>
struct Powers {
  V x, square, cube;
  LEAGUE_FUNCTION static Powers of(const V& x) {
    const V square = x * x;
    return {x, square, square * x};
  }
};

/// Adds a point's terms. `constant`: the first coefficient.
template <class T, class V>
LEAGUE_FUNCTION void add_point(const Cubic<T>& cubic, T constant, const Powers<V>& of, const V& y,
                               V (&sums)[sums_per_step]) {
  const V error = cubic.values[1] * of.x + cubic.values[2] * of.square + cubic.values[3] * of.cube - y + constant;
  sums[0] += error;
  sums[1] += error * of.x;
  sums[2] += error * of.square;
  sums[3] += error * of.cube;
  sums[4] += error * error;
}
template <class T, class V>
LEAGUE_FUNCTION void add_point(const Cubic<T>& cubic, const V& x, const V& y, V (&sums)[sums_per_step]) {
  add_point(cubic, cubic.values[0], Powers<V>::of(x), y, sums);
}

/// What a step does with the sums of all points, and where the state lies on the device: theta [terms], losses [steps],
/// steps taken [1].
struct Rule {
  double scale;  ///< twice the learning rate
  std::int64_t steps;
  double start[terms];
};
struct State {
  double *theta, *loss;
  std::int64_t* taken;
};

/// Position i of terms + 1 of a step from `sums`, a pointer or a View: a coefficient, or the loss and the count.
template <class Sums>
LEAGUE_FUNCTION void take_step(const Rule& rule, const State& state, const Sums& sums, int i) {
  if (i < terms)
    state.theta[i] -= rule.scale * sums[i];
  else
    state.loss[(*state.taken)++] = sums[i];
}

/// Position i of a state before the first step.
LEAGUE_FUNCTION void begin_state(const Rule& rule, const State& state, int i) {
  if (i < terms)
    state.theta[i] = rule.start[i];
  else
    *state.taken = 0;
}

}  // namespace league::polynomial_fit
