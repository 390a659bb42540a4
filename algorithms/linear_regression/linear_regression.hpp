// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>

#include "algorithms/contract/registry.hpp"
#include "algorithms/oracle/least_squares.hpp"

namespace league {

/// target = weights . x + bias, fitted to the first 80 % of the points by full-batch gradient descent on half the mean
/// squared error, or by the normal equations; the last 20 % are for the test error.
class LinearRegression final : public Problem {
 public:
  static constexpr const char* algorithm = "linear_regression";
  static constexpr int max_features = 32;
  /// Parts of the training rows whose means `streams` adds: four times the gradient.
  static constexpr int max_segments = 4;
  enum Index : std::size_t { theta, loss, taken };

  /// @throws std::invalid_argument for what cannot be fitted, naming it
  explicit LinearRegression(const Making& making);
  [[nodiscard]] std::int64_t extent() const override { return rows; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  /// The rows of segment `number` of all training rows: the remainder goes to the first.
  [[nodiscard]] Range segment(int number) const;
  /// A column's values at rows of the whole problem that are here; number `features` is the target.
  template <class T>
  [[nodiscard]] std::span<const T> column(int number, Range range) const {
    if (range.size() == 0) return {};
    const std::span<const T> all = number == features ? y.values<const T>() : x.values<const T>();
    const std::int64_t first = number == features ? 0 : number * y.size();
    return all.subspan(static_cast<std::size_t>(first + place(range.begin)), static_cast<std::size_t>(range.size()));
  }
  /// The descent that `check` follows, without the data's own rounding.
  [[nodiscard]] least_squares::Descent descent(Reduce& reduce) const;
  /// The solution of the normal equations, with its bound. @throws std::invalid_argument where they are singular
  [[nodiscard]] least_squares::Minimum minimum(Reduce& reduce) const;
  /// Moments of the columns [features, 1, target] over rows of the whole problem: training rows, or test rows.
  [[nodiscard]] least_squares::Moments moments(Range range, Reduce& reduce) const;

  std::int64_t points, rows;  ///< all, and those to train on
  int features;
  bool direct;   ///< by the normal equations
  int segments;  ///< 1, or `max_segments`
  std::int64_t steps;
  double rate;
  double start_weight, start_bias;
  double noise;
  std::uint64_t seed;
  Range local{}, test{};  ///< training rows, and test rows, that are here
  HostArray x{}, y{};     ///< of both, one after another: [features x rows], column after column; [rows]

 private:
  /// Where a row that is here lies in its column.
  [[nodiscard]] std::int64_t place(std::int64_t row) const {
    return row < rows ? row - local.begin : local.size() + row - test.begin;
  }
  [[nodiscard]] double unit() const;
  [[nodiscard]] Verdict check_descent(const Outputs& outputs, Reduce& reduce) const;
  [[nodiscard]] Verdict check_direct(const Outputs& outputs, Reduce& reduce) const;

  mutable std::optional<least_squares::Descended> descended_;  ///< computed at the first check, like the next two
  mutable std::optional<least_squares::Minimum> minimum_;
  mutable std::optional<least_squares::Moments> test_moments_;
};

}  // namespace league
