// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/linear_regression.hpp"
#include "backends/portable.hpp"

/// What kernels of all models do with a row, and what a step does with the sums of all.
namespace league::linear_regression {

/// The training rows of one shard: a column for each feature, and the targets.
template <class T>
struct Columns {
  const T* x[LinearRegression::max_features] = {};
  const T* y = nullptr;
  std::int64_t rows = 0;
  int features = 0;
};

/// What is being fitted, in the kernel's type; weights beyond the features are 0. Feature counts are rounded up to
/// `width`, columns beyond them are not read.
template <class T, int width>
struct Line {
  T weights[width];
  T bias;
};
template <class T, int width>
LEAGUE_FUNCTION Line<T, width> line_of(const double* theta, int features) {
  Line<T, width> line;
  for (int f = 0; f < width; ++f) line.weights[f] = f < features ? static_cast<T>(theta[f]) : T{0};
  line.bias = static_cast<T>(theta[features]);
  return line;
}

/// Sums over rows: error x feature, the error, its square; error = weights . x + bias - y.
template <int width>
inline constexpr int terms = width + 2;

/// Adds a row's terms; V is T, or a vector of T for as many rows.
template <class T, int width, class V>
LEAGUE_FUNCTION void add_row(const Line<T, width>& line, const V (&x)[width], const V& y, V (&sums)[terms<width>]) {
  V error = line.bias - y;
  for (int f = 0; f < width; ++f) error += line.weights[f] * x[f];
  for (int f = 0; f < width; ++f) sums[f] += error * x[f];
  sums[width] += error;
  sums[width + 1] += error * error;
}

/// One row's error, by itself: what `atomic` leaves in memory between its two passes.
template <class T>
LEAGUE_FUNCTION T error_of(const Columns<T>& data, const double* theta, std::int64_t row) {
  T error = static_cast<T>(theta[data.features]) - data.y[row];
  for (int f = 0; f < data.features; ++f) error += static_cast<T>(theta[f]) * data.x[f][row];
  return error;
}
/// Calls `add(position, term)` for each of a row's terms.
template <class T, class Add>
LEAGUE_FUNCTION void add_to_all(const Columns<T>& data, T error, std::int64_t row, const Add& add) {
  const auto e = static_cast<double>(error);
  for (int f = 0; f < data.features; ++f) add(f, e * static_cast<double>(data.x[f][row]));
  add(data.features, e);
  add(data.features + 1, e * e);
}

/// What a step does with the sums of all rows, which lie one segment after another.
struct Rule {
  double scale[LinearRegression::max_segments];  ///< learning rate over the rows of the segment
  double loss_scale;
  std::int64_t steps;
  int segments, features;
  int width;  ///< that the sums are laid out for
};

/// Rows of segment `number`: the remainder goes to the first.
LEAGUE_FUNCTION Range segment_of(std::int64_t rows, std::int64_t number, std::int64_t segments) {
  const std::int64_t part = rows / segments, longer = rows % segments;
  const std::int64_t begin = number * part + (number < longer ? number : longer);
  return {begin, begin + part + (number < longer ? 1 : 0)};
}

/// On the device: theta [features + 1], losses [steps], steps taken [1].
struct State {
  double* theta;
  double* loss;
  std::int64_t* taken;
};

/// Where the sums of segment k hold position i of features + 2: a weight, the bias, or the loss.
LEAGUE_FUNCTION int sum_at(const Rule& rule, int k, int i) {
  return k * (rule.width + 2) + (i < rule.features ? i : rule.width + i - rule.features);
}

/// Position i of a step from `sums`, a pointer or a View. Where the loss is, the steps are counted.
template <class Sums>
LEAGUE_FUNCTION void take_step(const Rule& rule, const State& state, const Sums& sums, int i) {
  double step = 0, total = 0;
  for (int k = 0; k < rule.segments; ++k) {
    const double sum = sums[sum_at(rule, k, i)];
    step += rule.scale[k] * sum;
    total += sum;
  }
  if (i <= rule.features)
    state.theta[i] -= step;
  else
    state.loss[(*state.taken)++] = rule.loss_scale * total;
}

/// Makes a position's sums ready for methods that add into them.
template <class Sums>
LEAGUE_FUNCTION void clear_sums(const Rule& rule, const Sums& sums, int i) {
  for (int k = 0; k < rule.segments; ++k) sums[sum_at(rule, k, i)] = 0;
}

/// Position i of a state before the first step.
LEAGUE_FUNCTION void begin_state(const Rule& rule, const State& state, double weight, double bias, int i) {
  if (i <= rule.features)
    state.theta[i] = i < rule.features ? weight : bias;
  else
    *state.taken = 0;
}

/// Theta of a kernel that takes all steps: every thread has its own, and all are the same.
template <int width>
struct OwnTheta {
  double values[width + 1];
  LEAGUE_FUNCTION void load(const double* theta, int features) {
    for (int f = 0; f < width; ++f) values[f] = f < features ? theta[f] : 0;
    values[width] = theta[features];
  }
  template <class T>
  [[nodiscard]] LEAGUE_FUNCTION Line<T, width> line() const {
    Line<T, width> line;
    for (int f = 0; f < width; ++f) line.weights[f] = static_cast<T>(values[f]);
    line.bias = static_cast<T>(values[width]);
    return line;
  }
  LEAGUE_FUNCTION void step(double scale, const double (&sums)[terms<width>]) {
    for (int f = 0; f <= width; ++f) values[f] -= scale * sums[f];
  }
  LEAGUE_FUNCTION void store(double* theta, int features) const {
    for (int f = 0; f < width; ++f)
      if (f < features) theta[f] = values[f];
    theta[features] = values[width];
  }
};

}  // namespace league::linear_regression
