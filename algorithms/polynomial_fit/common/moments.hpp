// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/moment_descent.hpp"
#include "algorithms/polynomial_fit/common/points.hpp"

/// The method `moments`: one pass for sums of powers in double, then all steps on them.
namespace league::polynomial_fit {

/// Sums over points: x^p for p = 1..6, y x^p for p = 0..3, y y.
inline constexpr int powers = 2 * (terms - 1), moment_sums = powers + terms + 1;

/// Adds a point's terms; V is double, or a vector of doubles for as many points.
template <class V>
LEAGUE_FUNCTION void add_powers(const V& x, const V& y, V (&sums)[moment_sums]) {
  V power = x, product = y;
  for (int p = 0; p < powers; ++p) sums[p] += power, power *= x;
  for (int p = 0; p < terms; ++p) sums[powers + p] += product, product *= x;
  sums[powers + terms] += y * y;
}

/// All steps by one thread, from the sums of all `points`, a pointer or a View.
template <class Sums>
LEAGUE_FUNCTION void descend(const Rule& rule, double points, const Sums& sums, const State& state) {
  using Moments = blocks::Moments<terms>;
  Moments moments;
  double theta[terms];
  blocks::unrolled<terms * terms>([&](int at) {
    const int i = at / terms, j = at % terms;
    if (i <= j) moments.products[Moments::at(i, j)] = i + j == 0 ? points : sums[i + j - 1];
  });
  blocks::unrolled<terms>([&](int p) {
    moments.right[p] = sums[powers + p];
    theta[p] = rule.start[p];
  });
  moments.square = sums[powers + terms];
  blocks::descend(moments, {rule.scale, 1, rule.steps}, theta, state.loss);
  blocks::unrolled<terms>([&](int p) { state.theta[p] = theta[p]; });
  *state.taken = rule.steps;
}

}  // namespace league::polynomial_fit
