// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "algorithms/registry.hpp"

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
  static constexpr int most_features = 64;
  /// What `Output::form` says of sums that a library adds in an order that is its own.
  static constexpr const char* library = "library";
  /// Outputs, by number.
  enum : std::size_t { theta, loss, steps_taken };

  /// @throws std::invalid_argument naming the parameter or the row that is wrong
  explicit LogisticRegression(const Making& making);
  /// On given data. `columns` [features x rows], `labels` u8 [rows], 0 or 1.
  LogisticRegression(const Making& making, HostArray columns, HostArray labels);
  ~LogisticRegression() override;
  LogisticRegression(const LogisticRegression&) = delete;
  LogisticRegression& operator=(const LogisticRegression&) = delete;

  [[nodiscard]] std::int64_t extent() const override { return rows; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] Outputs make_outputs(std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs) const override;

  std::int64_t rows;
  int features;
  Dtype dtype;
  bool newton;
  std::int64_t steps;  ///< at most
  double learning_rate, l2;
  double tolerance;           ///< a step whose gradient is below it in every component is the last; 0: none is
  HostArray columns, labels;  ///< [features x rows] of dtype, u8 [rows]

 private:
  std::unique_ptr<logistic::Oracle> oracle_;
};

namespace logistic {

struct Data {
  HostArray columns, labels;
};
/// The studies' generators `a2`, `a3`, `a4` (workloads.md 3), which have two features, and `generated`.
Data generate(const std::string& name, std::int64_t rows, std::int64_t features, Dtype dtype, std::uint64_t seed,
              std::pmr::memory_resource& memory);

/// A Newton step that makes the loss grow by more than this part of it is taken back and halved: less is rounding.
inline constexpr double newton_slack = 0x1p-10;
inline constexpr int newton_halvings = 30;

}  // namespace logistic
}  // namespace league
