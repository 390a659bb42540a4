// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/algorithms/knn.hpp"
#include "tests/algorithms/solved.hpp"

namespace league::knn {
namespace {

using tests::name_of, tests::Solved;

/// bf16 products only choose candidates: the results are the neighbours by the formula in double, for any data.
TEST(Knn, MatrixUnitsFindTheNeighboursOfAnyNumbers) {
  using Numbers = std::function<double(double gauss, double uniform, std::int64_t row)>;
  const std::vector<std::pair<const char*, Numbers>> kinds{
      {"normal", [](double gauss, double, std::int64_t) { return gauss; }},
      {"far from 0", [](double gauss, double, std::int64_t) { return 1e4 + gauss; }},
      {"few values", [](double gauss, double, std::int64_t) { return std::round(gauss); }},
      {"the same rows", [](double, double, std::int64_t row) { return static_cast<double>(row % 3); }},
      {"20 decades",
       [](double gauss, double uniform, std::int64_t) { return gauss * std::pow(10, 20 * uniform - 10); }},
      {"rows of 20 decades",
       [](double gauss, double, std::int64_t row) { return gauss * std::pow(10, static_cast<double>(row % 21) - 10); }},
      {"tiny", [](double gauss, double, std::int64_t) { return 1e-30 * gauss; }},
      {"huge", [](double gauss, double, std::int64_t) { return 1e30 * gauss; }}};
  for (const auto& [kind, number] : kinds)
    for (const auto& [features, k] : {std::pair{3, 1}, {70, 3}, {33, 64}}) {
      Dataset data = generated(700, 50, features, Dtype::f32, 0);
      std::mt19937 random(7);
      std::normal_distribution<double> gauss;
      std::uniform_real_distribution<double> uniform;
      for (HostArray array : {data.train, data.test})
        for (std::int64_t row = 0; row < array.rows(); ++row)
          for (float& value : array.values<float>(row, row + 1))
            value = static_cast<float>(number(gauss(random), uniform(random), row));
      const auto problem = make(data, Dtype::f32, k);
      for (const Variant* variant : tests::variants<Knn>()) {
        if (variant->method != "mma") continue;
        SCOPED_TRACE(name_of(*variant) + " " + kind + " k " + std::to_string(k));
        const Solved run(*variant, *problem);
        const Verdict verdict = problem->check_alone(*run.outputs);
        EXPECT_TRUE(verdict.passed()) << verdict.message;
        EXPECT_EQ(verdict.ties, 0);
      }
    }
}

/// Runs the variants of `mma` on one and three devices; the counts, the same for both, go to `expect`.
template <class Expect>
void expect_counts(const Knn& problem, const Expect& expect) {
  for (const Variant* variant : tests::variants<Knn>()) {
    if (variant->method != "mma") continue;
    SCOPED_TRACE(name_of(*variant));
    Solved run(*variant, problem);
    const Counts counts = run.prepared->counts();
    ASSERT_EQ(counts.size(), 2);
    expect(counts);
    run.again();
    EXPECT_EQ(run.prepared->counts(), counts) << "of the last compute only";
    try {
      EXPECT_EQ(Solved(*variant, problem, {.devices = 3}).prepared->counts(), counts);
    } catch (const Unsupported& refused) {
      EXPECT_STRNE(refused.what(), "");
    }
  }
}

TEST(Knn, MatrixUnitsCountTheirCandidates) {
  const std::int64_t n = 4000, queries = 50;
  const int k = 3;
  for (const Dtype dtype : {Dtype::f32, Dtype::u8}) {
    const auto problem = make(generated(n, queries, 20, dtype, 256), dtype, k);
    expect_counts(*problem, [&](const Counts& counts) {
      EXPECT_GE(counts.at("candidates"), k * queries);
      EXPECT_LT(counts.at("candidates"), n * queries / 4);
      EXPECT_EQ(counts.at("queries_by_all_rows"), 0);
    });
  }
}

/// All rows are equally far from a query: every list overflows.
TEST(Knn, MatrixUnitsCountTheQueriesThatAreComparedWithAllRows) {
  const std::int64_t n = 4000, queries = 20;
  Dataset data = generated(n, queries, 20, Dtype::f32, 0);
  for (float& value : data.train.values<float>()) value = 0.3F;
  const auto problem = make(data, Dtype::f32, 3);
  expect_counts(*problem, [&](const Counts& counts) {
    EXPECT_EQ(counts.at("queries_by_all_rows"), queries);
    EXPECT_LT(counts.at("candidates"), n * queries) << "candidates that do not fit are not counted";
  });
}

}  // namespace
}  // namespace league::knn
