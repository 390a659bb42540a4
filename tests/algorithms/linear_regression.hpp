// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "algorithms/linear_regression/linear_regression.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

/// What the tests of the oracle and of the variants of linear_regression share.
namespace league::tests::linear_regression {

using Values = std::map<std::string, std::string, std::less<>>;

inline std::unique_ptr<LinearRegression> make(Values values, Dtype dtype = Dtype::f64, const char* problem = "",
                                              std::optional<Range> local = {}) {
  Values all{{"points", "5000"},        {"features", "1"}, {"steps", "200"},
             {"learning_rate", "0.01"}, {"start", "zero"}, {"noise", "0"}};
  for (const auto& [key, value] : values) all[key] = value;
  std::pmr::memory_resource& memory = tests::runtime().host_memory();
  auto made = std::make_unique<LinearRegression>(Making{{all}, dtype, 1, nullptr, problem});
  made->make_inputs(local.value_or(Range{0, made->extent()}), memory);
  return made;
}
inline Reduce alone;

inline least_squares::Descended descended_of(const LinearRegression& problem) {
  return least_squares::descend(problem.descent(alone));
}

struct Solved : tests::Solved {
  using tests::Solved::Solved;
  [[nodiscard]] std::vector<double> theta() const { return values(LinearRegression::theta); }
};

/// The variants that can run here, of the methods that solve this problem.
inline std::vector<const Variant*> variants(const std::string& problem) {
  return tests::variants<LinearRegression>(solving(problem));
}

/// Runs every variant of a problem on one to three devices; what it cannot run there it says.
inline void everywhere(const LinearRegression& problem, const std::string& tag,
                       const std::function<void(const Solved&)>& expect) {
  tests::everywhere<Solved>(variants(tag), problem, expect);
}

/// theta_t = theta* + (I - rate c H)^t (theta_0 - theta*) for x = i step, i < n, and y = 0.7 x + 0.3, with the closed
/// sums of i and i^2.
inline std::array<double, 2> closed_form(std::int64_t points, std::array<double, 2> start, double rate, int steps) {
  const auto n = static_cast<long double>(points / 5 * 4), step = 10 / static_cast<long double>(points);
  const long double xx = step * step * (n - 1) * (2 * n - 1) / 6, x = step * (n - 1) / 2;
  long double w = start[0] - 0.7L, b = start[1] - 0.3L;
  for (int i = 0; i < steps; ++i) {
    const long double dw = rate * (xx * w + x * b), db = rate * (x * w + b);
    w -= dw, b -= db;
  }
  return {static_cast<double>(w + 0.7L), static_cast<double>(b + 0.3L)};
}

/// Least squares by Householder QR of [features, 1]. Source: Golub, Van Loan: Matrix Computations, 5.2.
inline std::vector<double> by_qr(const LinearRegression& problem) {
  const auto m = static_cast<std::size_t>(problem.rows), n = static_cast<std::size_t>(problem.features) + 1;
  std::vector<std::vector<double>> columns;
  for (int f = 0; f <= problem.features; ++f) {
    std::vector<double> column;
    for (std::size_t i = 0; i < m; ++i) {
      const auto row = static_cast<std::int64_t>(i);
      const Range one{row, row + 1};
      column.push_back(problem.dtype == Dtype::f64 ? problem.column<double>(f, one).front()
                                                   : problem.column<float>(f, one).front());
    }
    if (f == problem.features) columns.emplace_back(m, 1.0);
    columns.push_back(column);
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> v(columns[k].begin() + static_cast<std::ptrdiff_t>(k), columns[k].end());
    v[0] += std::copysign(std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)), v[0]);
    const double size = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
    for (std::size_t j = k; j <= n; ++j) {
      double* at = &columns[j][k];
      const double along = 2 * std::inner_product(v.begin(), v.end(), at, 0.0) / size;
      for (std::size_t i = 0; i < v.size(); ++i) at[i] -= along * v[i];
    }
  }
  std::vector<double> theta(n);
  for (std::size_t k = n; k-- > 0;) {
    double sum = columns[n][k];
    for (std::size_t j = k + 1; j < n; ++j) sum -= columns[j][k] * theta[j];
    theta[k] = sum / columns[k][k];
  }
  return theta;
}

}  // namespace league::tests::linear_regression
