// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include "algorithms/contract/registry.hpp"
#include "algorithms/oracle/least_squares.hpp"

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
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;
  /// The descent that `check` follows.
  [[nodiscard]] least_squares::Descent descent(Reduce& reduce) const;

  std::int64_t points;
  std::int64_t steps;
  double rate;
  double start[terms];  ///< of the standard normal distribution
  Range rows{};         ///< that are here
  HostArray x{}, y{};   ///< [rows]

 private:
  mutable std::optional<least_squares::Descended> descended_;  ///< computed at the first check
};

}  // namespace league
