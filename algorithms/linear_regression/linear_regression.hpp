// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>

#include "algorithms/least_squares.hpp"
#include "algorithms/registry.hpp"

namespace league {

/// target = weights . x + bias, fitted to the first 80 % of the points by full-batch gradient descent on half the mean
/// squared error, or by the normal equations; the last 20 % are for the test error.
class LinearRegression final : public Problem {
 public:
  static constexpr const char* algorithm = "linear_regression";
  static constexpr int most_features = 32;
  /// Parts of the training rows whose means `streams` adds: four times the gradient.
  static constexpr int most_segments = 4;
  enum Index : std::size_t { theta, loss, taken };

  /// @throws std::invalid_argument for what cannot be fitted, naming it
  explicit LinearRegression(const Making& making);
  [[nodiscard]] std::int64_t extent() const override { return rows; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] Outputs make_outputs(std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs) const override;

  /// The rows of segment `number` of all training rows: the remainder goes to the first.
  [[nodiscard]] Range segment(int number) const;
  /// A column's values at rows of the whole problem; number `features` is the target.
  template <class T>
  [[nodiscard]] std::span<const T> column(int number, Range range) const {
    if (number == features) return y.values<const T>(range.begin, range.end);
    return x.values<const T>().subspan(static_cast<std::size_t>(number * points + range.begin),
                                       static_cast<std::size_t>(range.size()));
  }
  /// The descent that `check` follows, without the data's own rounding.
  [[nodiscard]] least_squares::Descent descent() const;
  /// The solution of the normal equations, with its bound. @throws std::invalid_argument where they are singular
  [[nodiscard]] least_squares::Minimum minimum() const;
  /// Moments of the columns [features, 1, target] over rows of the whole problem.
  [[nodiscard]] least_squares::Moments moments(Range range) const;

  std::int64_t points, rows;  ///< all, and those to train on
  int features;
  Dtype dtype;
  bool direct;   ///< by the normal equations
  int segments;  ///< 1, or `most_segments`
  std::int64_t steps;
  double rate;
  double start_weight, start_bias;
  HostArray x, y;  ///< [features x points], column after column; [points]

 private:
  [[nodiscard]] double unit() const;
  [[nodiscard]] Verdict check_descent(const Outputs& outputs) const;
  [[nodiscard]] Verdict check_direct(const Outputs& outputs) const;

  mutable std::optional<least_squares::Descended> descended_;  ///< computed at the first check, like the next two
  mutable std::optional<least_squares::Minimum> minimum_;
  mutable std::optional<least_squares::Moments> test_;
};

}  // namespace league
