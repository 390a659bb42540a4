// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>

#include "algorithms/contract/registry.hpp"

namespace league {

namespace logistic {
class Oracle;
}

/// Binary logistic regression with an intercept: minimises the mean of max(z, 0) - y z + log1p(exp(-|z|)) over the
/// rows, z = theta_0 + x . (theta_1 ... theta_D), plus l2 / 2 |theta_1 ... theta_D|^2. From theta = 0, by full-batch
/// gradient descent, or (the problem `newton`) by damped Newton steps.
class LogisticRegression final : public Problem {
 public:
  static constexpr const char* algorithm = "logistic_regression";
  static constexpr int max_features = 64;
  /// `Output::form` of sums added by a library, in an unknown order.
  static constexpr const char* library = "library";
  /// Outputs, by number.
  enum : std::size_t { theta, loss, steps_taken };

  /// @throws std::invalid_argument naming the parameter that is wrong
  explicit LogisticRegression(const Making& making);
  ~LogisticRegression() override;
  LogisticRegression(const LogisticRegression&) = delete;
  LogisticRegression& operator=(const LogisticRegression&) = delete;

  [[nodiscard]] std::int64_t extent() const override { return all_rows; }
  /// With a tolerance, the number of steps is known once a result was checked; before that all steps are counted.
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  /// Given rows instead of generated ones, all in this process: `columns` [features x rows] of dtype, `labels` u8
  /// [rows], 0 or 1. @throws std::invalid_argument naming the row that is wrong
  void take_inputs(HostArray given_columns, HostArray given_labels);
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;
  /// Of local rows, by global index.
  template <class T>
  [[nodiscard]] std::span<const T> column(int feature, Range which) const {
    return columns.values<T>().subspan(static_cast<std::size_t>(feature * rows.size() + which.begin - rows.begin),
                                       static_cast<std::size_t>(which.size()));
  }
  [[nodiscard]] std::span<const std::uint8_t> labels_of(Range which) const {
    return labels.values<std::uint8_t>(which.begin - rows.begin, which.end - rows.begin);
  }

  std::string data;  ///< its generator
  std::uint64_t seed;
  bool newton;
  std::int64_t steps;  ///< maximum number
  double learning_rate, l2;
  double tolerance;  ///< stop after a step whose gradient is below it in every component; 0: never
  std::int64_t all_rows;
  int features;
  Range rows{};                   ///< local rows
  HostArray columns{}, labels{};  ///< [features x rows] of dtype, u8 [rows]

 private:
  std::unique_ptr<logistic::Oracle> oracle_;
};

namespace logistic {

/// The rows of this process, by the studies' generators `a2`, `a3`, `a4` (workloads.md 3), which have two
/// features, or `generated`.
void generate(const LogisticRegression& problem, HostArray& columns, HostArray& labels);

/// A Newton step that increases the loss by more than this fraction is undone and halved; less is rounding.
inline constexpr double newton_slack = 0x1p-10;
inline constexpr int newton_halvings = 30;

}  // namespace logistic
}  // namespace league
