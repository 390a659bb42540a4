// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "algorithms/contract/partition.hpp"
#include "algorithms/distance_matrix/distance_matrix.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

namespace league::distance_matrix {
namespace {

using tests::name_of, tests::Solved;

std::unique_ptr<DistanceMatrix> make(std::int64_t n, std::int64_t dimension, Dtype dtype,
                                     const char* metric = "euclidean") {
  const Parameters parameters{{{"n", std::to_string(n)}, {"dimension", std::to_string(dimension)}, {"metric", metric}}};
  std::pmr::memory_resource& memory = tests::runtime().host_memory();
  auto problem = std::make_unique<DistanceMatrix>(Making{parameters, dtype, 7, nullptr, ""});
  problem->make_inputs({0, problem->extent()}, memory);
  return problem;
}

/// The distances by the formula, as outputs of a kernel.
template <class T>
Outputs by_formula(const DistanceMatrix& problem) {
  Outputs outputs = problem.make_outputs({0, problem.extent()}, tests::runtime().host_memory());
  const auto points = problem.points.values<const T>();
  const auto values = outputs[0].values.values<T>();
  const auto n = static_cast<std::size_t>(problem.n), dimension = static_cast<std::size_t>(problem.dimension);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::size_t k = 0; k < dimension; ++k) {
        const T d = points[i * dimension + k] - points[j * dimension + k];
        sum += d * d;
      }
      values[i * n + j] = problem.euclidean ? std::sqrt(sum) : sum;
    }
  return outputs;
}

bool whole_only(const Variant& variant) { return variant.method.ends_with("symmetric"); }

TEST(DistanceMatrix, TrianglesByHand) {
  for (const Variant* variant : tests::variants<DistanceMatrix>(tests::taking(Dtype::f64)))
    for (const char* metric : {"euclidean", "squared"}) {
      SCOPED_TRACE(name_of(*variant) + " " + metric);
      const auto problem = make(4, 2, Dtype::f64, metric);
      std::ranges::copy(std::array<double, 8>{0, 0, 3, 4, 3, 0, 0, 4}, problem->points.values<double>().begin());
      const Solved run(*variant, *problem);
      const std::array<double, 16> expected{0, 5, 3, 4, 5, 0, 4, 3, 3, 4, 0, 5, 4, 3, 5, 0};
      const auto values = run.outputs->at(0).values.values<const double>();
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(values[i], problem->euclidean ? expected[i] : expected[i] * expected[i]) << "value " << i;
    }
}

TEST(DistanceMatrix, SizesAndDimensions) {
  const std::array<std::array<std::int64_t, 2>, 9> shapes{
      {{1, 1}, {2, 2}, {9, 3}, {17, 4}, {17, 5}, {100, 3}, {793, 3}, {130, 784}, {33, 18}}};
  for (const auto& [n, dimension] : shapes)
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const auto problem = make(n, dimension, dtype);
      for (const Variant* variant : tests::variants<DistanceMatrix>(tests::taking(dtype))) {
        SCOPED_TRACE(name_of(*variant) + " n " + std::to_string(n) + " dimension " + std::to_string(dimension) + " " +
                     std::string(name(dtype)));
        const Solved run(*variant, *problem);
        const Verdict verdict = problem->check_alone(*run.outputs);
        EXPECT_TRUE(verdict.passed()) << verdict.message;
        ASSERT_EQ(verdict.figures.size(), 1U);
        EXPECT_EQ(verdict.figures[0].name, "frobenius_difference");
        if (dtype == Dtype::f64 && dimension == 3) {
          EXPECT_LT(verdict.figures[0].value(), 1e-12);
        }
      }
    }
}

TEST(DistanceMatrix, BlocksOfRowsGiveTheSameBits) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto problem = make(301, 5, dtype);
    for (const Variant* variant : tests::variants<DistanceMatrix>(tests::taking(dtype))) {
      if (variant->method == "gram" || whole_only(*variant)) continue;
      SCOPED_TRACE(name_of(*variant) + " " + std::string(name(dtype)));
      const Solved whole(*variant, *problem);
      for (const std::int64_t rows : {20, 150}) {
        const Solved blocked(*variant, *problem,
                             {.budget = (384 * 16 + 3 * 384 + 2 * 301 * 5 + rows * 301 + 4000) * std::int64_t{8}});
        const auto first = whole.outputs->at(0).values.bytes(), second = blocked.outputs->at(0).values.bytes();
        EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size()), 0);
      }
    }
  }
}

TEST(DistanceMatrix, ProcessesTakeTheirRows) {
  for (const std::int64_t n : {61, 4500}) {  // every row by value, and a sample
    const auto whole = make(n, 3, Dtype::f32);
    const Variant* variant = registry().variant("distance_matrix", "tiled", "serial");
    const Solved expected(*variant, *whole);
    Verdict all;
    for (int process = 0; process < 3; ++process) {
      const Range local = partition(n, 1, process, 3).local_rows();
      const auto part = make(n, 3, Dtype::f32);
      part->make_inputs(local, tests::runtime().host_memory());
      const Solved run(*variant, *part, {.process = process, .processes = 3});
      const Verdict verdict = part->check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      all += verdict;
      const auto some = run.outputs->at(0).values.values<const float>(),
                 same = expected.outputs->at(0).values.values<const float>(local.begin, local.end);
      EXPECT_TRUE(std::ranges::equal(some, same));
    }
    const Verdict verdict = whole->check_alone(*expected.outputs);
    EXPECT_EQ(all.rows_checked, n);
    ASSERT_EQ(all.figures.size(), 1U);
    EXPECT_EQ(all.figures[0].name, verdict.figures[0].name);
    if (n == 4500) {
      EXPECT_EQ(all.figures[0].value(), verdict.figures[0].value());
    }
  }
}

TEST(DistanceMatrix, WhatDoesNotFitIsRefusedWithTheNumbers) {
  const auto problem = make(1000, 3, Dtype::f64);
  for (const Variant* variant : tests::variants<DistanceMatrix>(tests::taking(problem->dtype)))
    for (const std::int64_t budget : {std::int64_t{10'000}, std::int64_t{1'000'000}}) {
      if (budget > 10'000 && !whole_only(*variant)) continue;
      try {
        const Solved run(*variant, *problem, {.budget = budget});
        FAIL() << name_of(*variant);
      } catch (const Unsupported& refused) {
        const std::string what = refused.what();
        EXPECT_NE(what.find("needs "), std::string::npos) << what;
        EXPECT_NE(what.find(budget == 10'000 ? "budget 10 KB" : "budget 1 MB"), std::string::npos) << what;
      }
    }
}

TEST(DistanceMatrix, CheckFindsWhatIsWrong) {
  const auto problem = make(50, 3, Dtype::f32);
  Outputs outputs = by_formula<float>(*problem);
  const auto values = outputs[0].values.values<float>();
  EXPECT_TRUE(problem->check_alone(outputs).passed());
  const auto fails_with = [&](std::size_t index, float value) {
    const float right = values[index];
    values[index] = value;
    EXPECT_FALSE(problem->check_alone(outputs).passed()) << index << " " << value;
    values[index] = right;
  };
  fails_with(50 * 50 - 2, std::numeric_limits<float>::quiet_NaN());
  fails_with(7, values[7] * (1 + 20 * std::numeric_limits<float>::epsilon()));
  fails_with(51, 1e-30F);                          // the diagonal is 0 exactly
  fails_with(8, std::nextafter(values[8], 2.0F));  // its mirror image differs
  const Verdict right = problem->check_alone(outputs);
  EXPECT_TRUE(right.passed());
  values[9] += 0.25F;
  const Verdict off = problem->check_alone(outputs);
  ASSERT_EQ(off.figures.at(0).name, "frobenius_difference");
  EXPECT_NEAR(off.figures.at(0).value(), 0.25, 1e-6);
  EXPECT_LT(right.figures.at(0).value(), 1e-5);
}

TEST(DistanceMatrix, ExpandedFormIsJudgedByWhatCancels) {
  const auto problem = make(50, 3, Dtype::f32, "squared");
  Outputs outputs = by_formula<float>(*problem);
  const auto values = outputs[0].values.values<float>();
  std::size_t closest = 1;
  for (std::size_t j = 1; j < 50; ++j) closest = values[j] < values[closest] ? j : closest;
  values[closest] += 2e-7F;
  values[closest * 50] += 2e-7F;
  EXPECT_FALSE(problem->check_alone(outputs).passed());
  outputs[0].form = DistanceMatrix::expanded;
  EXPECT_TRUE(problem->check_alone(outputs).passed());
  outputs[0].form = DistanceMatrix::mirrored;
  EXPECT_TRUE(problem->check_alone(outputs).passed());
  values[closest] = std::nextafter(values[closest], 0.0F);
  EXPECT_FALSE(problem->check_alone(outputs).passed()) << "its mirror image differs";
  outputs[0].form = DistanceMatrix::expanded;
  EXPECT_TRUE(problem->check_alone(outputs).passed());
  values[closest] += 1e-4F;
  EXPECT_FALSE(problem->check_alone(outputs).passed());
}

TEST(DistanceMatrix, RowsOutsideTheSampleAreHeldToTheirSum) {
  const auto problem = make(4500, 1, Dtype::f32, "squared");
  Outputs outputs = by_formula<float>(*problem);
  const auto values = outputs[0].values.values<float>();
  const Verdict verdict = problem->check_alone(outputs);
  EXPECT_TRUE(verdict.passed()) << verdict.message;
  ASSERT_EQ(verdict.figures.size(), 1U);
  EXPECT_EQ(verdict.figures[0].name, "rows_checked_by_value");
  EXPECT_LT(verdict.figures[0].value(), 4500);
  for (const std::size_t row : {std::size_t{1}, std::size_t{2249}, std::size_t{2250}, std::size_t{4498}}) {
    float& value = values[row * 4500 + 17];
    const float right = value;
    value += 0.5F;
    EXPECT_FALSE(problem->check_alone(outputs).passed()) << row;
    value = right;
  }
}

}  // namespace
}  // namespace league::distance_matrix
