// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "algorithms/blocks/definite_solve.hpp"
#include "tests/algorithms/fiber_team.hpp"

// A team is simulated by fibers.
namespace league::blocks {
namespace {

constexpr int max_n = 65;

/// A = X^T X of random columns of sizes from 2^-8 to 2^8, and b.
struct Equations {
  Equations(int n_, int rows) : n(n_) {
    std::mt19937 random{static_cast<unsigned>(n)};
    std::normal_distribution<double> value;
    std::vector<double> x(static_cast<std::size_t>(rows * n));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(value(random), static_cast<int>(i) % n * 5 % 17 - 8);
    for (int i = 0; i < n; ++i) {
      b.push_back(value(random));
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int r = 0; r < rows; ++r) sum += x[at(r, i)] * x[at(r, j)];
        a.push_back(sum);
      }
    }
  }
  [[nodiscard]] std::size_t at(int i, int j) const { return static_cast<std::size_t>(i * n + j); }
  int n;
  std::vector<double> a, b;
};

template <int side>
std::vector<double> solved(const Equations& of, double tolerance = 0) {
  constexpr double unset = -12345;
  std::vector<double> x(static_cast<std::size_t>(of.n), unset);
  std::vector<double> scratch(definite_scratch<side>(of.n), std::numeric_limits<double>::quiet_NaN());
  tests::run_fiber_team(side * side, [&](const auto& team) {
    solve_definite<side, max_n>(
        team, of.n, tolerance,
        [&](int i, int j) {
          EXPECT_LE(i, j);
          return of.a.at(of.at(i, j));
        },
        [&](int i) { return of.b.at(static_cast<std::size_t>(i)); }, scratch.data(),
        [&](int i, double value) { EXPECT_EQ(std::exchange(x.at(static_cast<std::size_t>(i)), value), unset); });
  });
  return x;
}

/// L D L^T in long double: x, and the diagonal of the inverse.
struct Reference {
  explicit Reference(const Equations& of) : n(of.n), a(of.a.begin(), of.a.end()) {
    for (int k = 0; k < n; ++k)
      for (int i = k + 1; i < n; ++i) {
        const long double factor = a[of.at(i, k)] / a[of.at(k, k)];
        for (int j = k + 1; j < n; ++j) a[of.at(i, j)] -= factor * a[of.at(k, j)];
        a[of.at(i, k)] = factor;
      }
    x = solve({of.b.begin(), of.b.end()});
    for (int j = 0; j < n; ++j) {
      std::vector<long double> unit(static_cast<std::size_t>(n), 0);
      unit[static_cast<std::size_t>(j)] = 1;
      inverse.push_back(solve(unit)[static_cast<std::size_t>(j)]);
    }
  }
  [[nodiscard]] std::vector<long double> solve(std::vector<long double> y) const {
    const auto at = [&](int i, int j) { return a[static_cast<std::size_t>(i * n + j)]; };
    const auto of = [&](int i) -> long double& { return y[static_cast<std::size_t>(i)]; };
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) of(i) -= at(i, j) * of(j);
    for (int i = n - 1; i >= 0; --i) {
      for (int j = i + 1; j < n; ++j) of(i) -= at(i, j) * of(j);
      of(i) /= at(i, i);
    }
    return y;
  }
  int n;
  std::vector<long double> a, x, inverse;
};

/// Within the bound that the oracle of logistic regression allows, in the norm of A: 8 n^2 u (sum sqrt(A_jj A^-1_jj))^2
/// times the length of x; a component by sqrt(A^-1_jj).
void expect_near(const Equations& of, const std::vector<double>& x) {
  const Reference right(of);
  long double conditioning = 0, squares = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    conditioning += std::sqrt(of.a[j * x.size() + j] * right.inverse[j]);
    squares += of.b[j] * right.x[j];
  }
  const long double error = 8.0L * of.n * of.n * 0x1p-53L * conditioning * conditioning * std::sqrt(squares);
  for (std::size_t j = 0; j < x.size(); ++j)
    ASSERT_NEAR(x[j], static_cast<double>(right.x[j]), static_cast<double>(error * std::sqrt(right.inverse[j]))) << j;
}

TEST(DefiniteSolve, AnyTeamSolves) {
  for (const int n : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 63, 64, 65})
    for (const int rows : {3 * n, n + 1, n}) {  // the fewer, the closer to singular
      SCOPED_TRACE(std::to_string(n) + " equations, " + std::to_string(rows) + " rows");
      const Equations equations(n, rows);
      expect_near(equations, solved<1>(equations));
      expect_near(equations, solved<8>(equations));
      expect_near(equations, solved<device_solve_side>(equations));
    }
}

TEST(DefiniteSolve, APivotThatIsTooSmallMakesTheSolutionNan) {
  for (const int n : {1, 2, 9, 16, 17, 65})
    for (const int bad : {0, n / 2, n - 1}) {
      SCOPED_TRACE(std::to_string(n) + " equations, pivot " + std::to_string(bad));
      Equations equations(n, 3 * n);
      const auto expect_nan = [&](double tolerance) {
        for (const double x : solved<1>(equations, tolerance)) EXPECT_TRUE(std::isnan(x));
        for (const double x : solved<device_solve_side>(equations, tolerance)) EXPECT_TRUE(std::isnan(x));
      };
      expect_nan(1);  // no pivot exceeds its element of the diagonal
      for (const double value : {0.0, -1.0, std::nan("")}) {
        equations.a[equations.at(bad, bad)] = value;
        expect_nan(0);
      }
    }
}

}  // namespace
}  // namespace league::blocks
