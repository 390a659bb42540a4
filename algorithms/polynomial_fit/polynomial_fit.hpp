// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "algorithms/least_squares.hpp"
#include "algorithms/registry.hpp"

namespace league {

/// theta_0 + theta_1 x + theta_2 x^2 + theta_3 x^3, fitted to sin x on [-pi, pi] by full-batch gradient descent on the
/// *sum* of squared errors.
class PolynomialFit final : public Problem {
 public:
  static constexpr const char* algorithm = "polynomial_fit";
  static constexpr int terms = 4;
  enum Index : std::size_t { theta, loss, taken };

  /// @throws std::invalid_argument for what cannot be fitted, naming it
  explicit PolynomialFit(const Making& making);
  [[nodiscard]] std::int64_t extent() const override { return points; }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] Outputs make_outputs(std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs) const override;
  /// The descent that `check` follows.
  [[nodiscard]] least_squares::Descent descent() const;

  std::int64_t points;
  Dtype dtype;
  std::int64_t steps;
  double rate;
  double start[terms];  ///< of the standard normal distribution
  HostArray x, y;       ///< [points]

 private:
  mutable std::optional<least_squares::Descended> descended_;  ///< computed at the first check
};

}  // namespace league
