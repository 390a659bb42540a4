// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums.hpp"
#include "algorithms/polynomial_fit/polynomial_fit.hpp"
#include "backends/portable.hpp"

/// What kernels of all models do with a point, and how a lane walks over its points.
namespace league::polynomial_fit {

using blocks::piece, blocks::Sums;

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

template <class T>
LEAGUE_FUNCTION void flush(T (&from)[sums_per_step], Sums<double, sums_per_step>& to) {
  for (int i = 0; i < sums_per_step; ++i) to.values[i] += static_cast<double>(from[i]), from[i] = T{0};
}

/// Points that are added in T before they go into double.
inline constexpr int run = 16;

/// A GPU lane's share of the sums: every `lanes`-th point from `lane`, of all teams' lanes. Eight points are loaded
/// before they are added.
template <class T>
LEAGUE_FUNCTION Sums<double, sums_per_step> lane_sums(const Points<T>& points, const Cubic<T>& cubic, std::int64_t lane,
                                                      std::int64_t lanes) {
  Sums<double, sums_per_step> sums;
  T mine[sums_per_step] = {};
  int added = 0;
  constexpr int together = 8;
  static_assert(run % together == 0);
  std::int64_t i = lane;
  for (; i + (together - 1) * lanes < points.count; i += together * lanes) {
    T x[together], y[together];
    blocks::unrolled<together>([&](int k) { x[k] = points.x[i + k * lanes], y[k] = points.y[i + k * lanes]; });
    blocks::unrolled<together>([&](int k) { add_point(cubic, x[k], y[k], mine); });
    if ((added += together) % run == 0) flush(mine, sums);
  }
  for (; i < points.count; i += lanes) {
    add_point(cubic, points.x[i], points.y[i], mine);
    if (++added % run == 0) flush(mine, sums);
  }
  flush(mine, sums);
  return sums;
}

/// A host thread's share: consecutive points, as many at a time as a vector holds.
template <class T>
LEAGUE_FUNCTION Sums<double, sums_per_step> range_sums(const Points<T>& points, const Cubic<T>& cubic, Range range) {
  typedef T Vector __attribute__((vector_size(64)));
  constexpr int lanes = 64 / static_cast<int>(sizeof(T));
  double of_lanes[sums_per_step][lanes] = {};
  std::int64_t i = range.begin;
  while (i + lanes <= range.end) {
    Vector mine[sums_per_step] = {};
    for (int turn = 0; turn < run && i + lanes <= range.end; ++turn, i += lanes) {
      Vector x, y;
      __builtin_memcpy(&x, points.x + i, sizeof(Vector));
      __builtin_memcpy(&y, points.y + i, sizeof(Vector));
      add_point(cubic, x, y, mine);
    }
    T values[sums_per_step][lanes];
    __builtin_memcpy(values, mine, sizeof(values));
    for (int n = 0; n < sums_per_step; ++n)
      for (int lane = 0; lane < lanes; ++lane) of_lanes[n][lane] += static_cast<double>(values[n][lane]);
  }
  Sums<double, sums_per_step> sums;
  for (int n = 0; n < sums_per_step; ++n)
    for (const double sum : of_lanes[n]) sums.values[n] += sum;
  T mine[sums_per_step] = {};
  for (; i < range.end; ++i) add_point(cubic, points.x[i], points.y[i], mine);  // fewer than a vector
  flush(mine, sums);
  return sums;
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

/// Position i of terms + 1 of a step: a coefficient, or the loss and the count.
LEAGUE_FUNCTION void take_step(const Rule& rule, const State& state, const double* sums, int i) {
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

/// The points of a persistent kernel: those of a lane and their powers stay in its registers. With more of them,
/// `resident` is 0 and they are read in each step. So few lanes may take 255 registers each: points, powers and sums
/// take more than 128.
inline constexpr int max_persistent_lanes = 256;
inline constexpr int max_resident = 16;
template <class T, int resident>
struct ResidentPoints {
  Powers<T> powers[resident];
  T y[resident];
  int count = 0;

  /// `keep(power)`: a native model's blocks::kept.
  template <class Keep>
  LEAGUE_FUNCTION void load(const Points<T>& points, std::int64_t lane, std::int64_t lanes, const Keep& keep) {
    std::int64_t i = lane;
    for (int k = 0; k < resident; ++k, i += lanes) {
      const bool mine = i < points.count;
      const auto of = Powers<T>::of(mine ? points.x[i] : T{0});
      powers[k] = {of.x, keep(of.square), keep(of.cube)};
      y[k] = mine ? points.y[i] : T{0};
    }
    count = blocks::own_rows(points.count, lane, lanes);
  }
  LEAGUE_FUNCTION Sums<T, sums_per_step> sums(const Cubic<T>& cubic) const {
    Sums<T, sums_per_step> sums;
    for (int k = 0; k < resident; ++k)  // beyond the last point zeros, without the constant: they add nothing
      add_point(cubic, k < count ? cubic.values[0] : T{0}, powers[k], y[k], sums.values);
    return sums;
  }
};
template <class T>
struct ResidentPoints<T, 0> {
  template <class Keep>
  LEAGUE_FUNCTION void load(const Points<T>&, std::int64_t, std::int64_t, const Keep&) {}
};
/// What a lane's sums of a step are added in: few points of its own in T, all others in double.
template <class T, int resident>
using LaneType = std::conditional_t<(resident > 0), T, double>;

}  // namespace league::polynomial_fit
