// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "algorithms/stencil/oracle.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

namespace league {
namespace {

std::unique_ptr<Stencil> make(std::int64_t n, std::int64_t steps, Dtype dtype) {
  const Parameters parameters{{{"n", std::to_string(n)}, {"steps", std::to_string(steps)}}};
  auto problem = std::make_unique<Stencil>(Making{parameters, dtype, 3, nullptr, ""});
  problem->make_inputs({0, n}, tests::runtime().host_memory());
  return problem;
}

/// An eigenvector of the step shrinks by its eigenvalue, in every variant.
TEST(Stencil, ShrinksAnEigenvectorByItsEigenvalue) {
  constexpr std::int64_t n = 12, steps = 6;
  const auto problem = make(n, steps, Dtype::f64);
  const double angle = std::numbers::pi / (n + 1), eigenvalue = 0.25 + 0.75 * std::cos(angle);
  const auto cell = [&](std::int64_t i) {
    const auto along = [&](std::int64_t x) { return std::sin(angle * static_cast<double>(x + 1)); };
    return along(i % n) * along(i / n % n) * along(i / (n * n));
  };
  const auto initial = problem->values.values<double>();
  for (std::int64_t i = 0; i < n * n * n; ++i) initial[static_cast<std::size_t>(i)] = cell(i);
  for (const Variant* variant : tests::variants(Stencil::algorithm, {}))
    for (const int devices : {1, 3}) {
      if (!tests::has_devices(*variant, devices)) continue;
      tests::Setting setting;
      setting.devices = devices;
      const tests::Solved solved(*variant, *problem, setting);
      const auto values = solved.results.at(0).values.values<const double>();
      for (std::int64_t i = 0; i < n * n * n; ++i)
        ASSERT_NEAR(values[static_cast<std::size_t>(i)], std::pow(eigenvalue, steps) * cell(i), 1e-14)
            << tests::name_of(*variant) << " on " << devices << ", cell " << i;
    }
}

/// A cell alone shrinks to a quarter in each step: below the least normal number nothing but 0 is left.
/// A lane, or a thread with its caches, keeps what it needs again in the next plane.
TEST(Stencil, TiledTakesSeveralPlanesByDefault) {
  const auto problem = make(128, 1, Dtype::f32);
  for (const Variant* variant : tests::variants<Stencil>([](const Variant& one) { return one.method == "tiled"; })) {
    if (!tests::has_devices(*variant, 1)) continue;
    const tests::Solved solved(*variant, *problem);
    EXPECT_GT(solved.prepared->configure({}).tile, 1) << tests::name_of(*variant);
  }
}

TEST(Stencil, WhatUnderflowsIsRight) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto problem = make(1, dtype == Dtype::f32 ? 91 : 600, dtype);
    const Variant* variant = tests::variants(Stencil::algorithm, {}).front();
    tests::Solved solved(*variant, *problem, {});
    Reduce alone;
    const stencil::Oracle oracle(*problem, alone);
    EXPECT_TRUE(oracle.judge(solved.results.at(0)).passed()) << oracle.judge(solved.results.at(0)).message;
    dtype == Dtype::f32 ? solved.results.at(0).values.values<float>()[0] = 1e-30F
                        : solved.results.at(0).values.values<double>()[0] = 1e-300;
    EXPECT_FALSE(oracle.judge(solved.results.at(0)).passed());
  }
}

/// The check of large cubes agrees with the complete check, and finds a wrong cell anywhere.
TEST(Stencil, SumsOfLinesFindAWrongCell) {
  constexpr std::int64_t n = 21, steps = 4;
  const auto problem = make(n, steps, Dtype::f32);
  Reduce alone;
  const stencil::Oracle complete(*problem, alone), by_lines(*problem, alone, 0);
  const Variant* variant = tests::variants(Stencil::algorithm, {}).front();
  tests::Solved solved(*variant, *problem, {});
  Output& result = solved.results.at(0);
  EXPECT_TRUE(complete.judge(result).passed()) << complete.judge(result).message;
  EXPECT_TRUE(by_lines.judge(result).passed()) << by_lines.judge(result).message;
  EXPECT_EQ(by_lines.judge(result).rows_checked, n * n);
  const auto values = result.values.values<float>();
  for (std::size_t i = 0; i < values.size(); i += 97) {
    const float right = values[i];
    for (const float wrong : {right * 1.01F, std::nanf("")}) {
      values[i] = wrong;
      EXPECT_FALSE(complete.judge(result).passed()) << "cell " << i << " is " << wrong;
      EXPECT_FALSE(by_lines.judge(result).passed()) << "cell " << i << " is " << wrong;
    }
    values[i] = right;
  }
}

/// The smallest relative change of a cell that a check finds, to within a tenth.
double min_found(const stencil::Oracle& oracle, const Output& result, float& cell) {
  const float right = cell;
  double low = 1e-9, high = 1;
  while (high > 1.1 * low) {
    const double change = std::sqrt(low * high);
    cell = static_cast<float>(right * (1 + change));
    (oracle.judge(result).passed() ? low : high) = change;
  }
  cell = right;
  return high;
}

/// A corner is in the sample. In the middle, the sum of a line lets a cell go as far as its 21 cells together may.
TEST(Stencil, SampleAndLinesAreHeldToTheirBounds) {
  constexpr std::int64_t n = 21;
  const auto problem = make(n, 4, Dtype::f32);
  Reduce alone;
  const stencil::Oracle complete(*problem, alone), by_lines(*problem, alone, 0);
  tests::Solved solved(*tests::variants(Stencil::algorithm, {}).front(), *problem, {});
  Output& result = solved.results.at(0);
  const auto values = result.values.values<float>();
  EXPECT_LT(min_found(by_lines, result, values[0]), 2 * min_found(complete, result, values[0]));
  float& middle = values[(10 * n + 9) * n + 10];
  EXPECT_LT(min_found(by_lines, result, middle), 2 * n * min_found(complete, result, middle));
}

}  // namespace
}  // namespace league
