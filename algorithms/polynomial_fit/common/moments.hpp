// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/moment_descent.hpp"
#include "algorithms/blocks/streamed_rows.hpp"
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

/// Of a device's threads, the sums and the packs under way leave one in so many.
inline constexpr int moment_share = 4;

/// A GPU lane's share: every `lanes`-th pack from `lane`, of all teams' lanes.
template <class T>
LEAGUE_FUNCTION Sums<double, moment_sums> lane_powers(const Points<T>& points, std::int64_t lane, std::int64_t lanes) {
  Sums<double, moment_sums> sums;
  const auto load = [&]<class Pack>(int c, std::int64_t number) {
    return reinterpret_cast<const Pack*>(c == 0 ? points.x : points.y)[number];
  };
  const auto add = [&](const T(&point)[2]) {
    add_powers(static_cast<double>(point[0]), static_cast<double>(point[1]), sums.values);
  };
  blocks::stream_rows<T, 2, 16>(load, points.count, lane, lanes, add);
  return sums;
}

/// A host thread's share: consecutive points, as many at a time as a vector holds.
template <class T>
LEAGUE_FUNCTION Sums<double, moment_sums> range_powers(const Points<T>& points, Range range) {
  typedef double Vector __attribute__((vector_size(64)));
  constexpr int lanes = 8;
  Vector of_lanes[moment_sums] = {};
  std::int64_t i = range.begin;
  for (; i + lanes <= range.end; i += lanes) {
    Vector x, y;
    for (int k = 0; k < lanes; ++k)
      x[k] = static_cast<double>(points.x[i + k]), y[k] = static_cast<double>(points.y[i + k]);
    add_powers(x, y, of_lanes);
  }
  Sums<double, moment_sums> sums;
  for (; i < range.end; ++i)
    add_powers(static_cast<double>(points.x[i]), static_cast<double>(points.y[i]), sums.values);
  for (int n = 0; n < moment_sums; ++n)
    for (int k = 0; k < lanes; ++k) sums.values[n] += of_lanes[n][k];
  return sums;
}

/// All steps by one thread, from the sums of all `points`.
LEAGUE_FUNCTION void descend(const Rule& rule, double points, const double* sums, const State& state) {
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
