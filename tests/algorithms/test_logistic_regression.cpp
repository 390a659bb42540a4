// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

#include "tests/algorithms/logistic_regression.hpp"

namespace league::logistic::tests {
namespace {

/// Gradient descent in double, one row after another.
std::vector<double> descent(const LogisticRegression& problem) {
  const auto n = static_cast<std::size_t>(problem.features + 1);
  std::vector<double> theta(n, 0.0);
  for (std::int64_t step = 0; step < problem.steps; ++step) {
    std::vector<double> gradient(n, 0.0);
    for (std::int64_t row = 0; row < problem.extent(); ++row) {
      const auto x = [&](std::size_t j) {
        if (j == 0) return 1.0;
        const auto feature = static_cast<int>(j) - 1;
        return problem.dtype == Dtype::f64 ? problem.column<double>(feature, {row, row + 1}).front()
                                           : double{problem.column<float>(feature, {row, row + 1}).front()};
      };
      double z = 0;
      for (std::size_t j = 0; j < n; ++j) z += theta[j] * x(j);
      const double residual =
          1 / (1 + std::exp(-z)) - problem.labels.values<const std::uint8_t>()[static_cast<std::size_t>(row)];
      for (std::size_t j = 0; j < n; ++j) gradient[j] += residual * x(j);
    }
    for (std::size_t j = 0; j < n; ++j)
      theta[j] -= problem.learning_rate * gradient[j] / static_cast<double>(problem.extent());
  }
  return theta;
}

void expect_golden(const Settings& settings, const std::array<double, 3>& published, double accuracy) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto problem = make(settings, dtype);
    const std::vector<double> reference = descent(*problem);
    everywhere(*problem, "", [&](const Variant& variant, const Solved& run) {
      for (std::size_t j = 0; j < 3; ++j) {
        if (is_serial(variant)) {
          EXPECT_NEAR(run.theta()[j], published[j], 0.5e-6);
        }
        EXPECT_NEAR(run.theta()[j], reference[j], dtype == Dtype::f64 ? 1e-12 : 1e-5);
      }
      for (std::size_t step = 1; step < run.loss().size(); ++step) ASSERT_LT(run.loss()[step], run.loss()[step - 1]);
      const Verdict verdict = problem->check_alone(*run.outputs);
      EXPECT_EQ(verdict.figures.at(1).name, "accuracy");
      EXPECT_EQ(verdict.figures.at(1).value(), accuracy);
    });
  }
}

TEST(LogisticRegression, GoldenOfStudyA3) {
  expect_golden({{"data", "a3"}, {"rows", "10000"}, {"steps", "100"}, {"learning_rate", "0.01"}},
                {.125907, .151487, .134644}, .6631);
}

TEST(LogisticRegression, GoldenOfStudyA4) {
  expect_golden({{"data", "a4"}, {"rows", "1000"}, {"steps", "1000"}, {"learning_rate", "0.01"}},
                {-.379574, .599219, .611739}, .713);
}

TEST(LogisticRegression, SaturatingLogitsGiveNumbers) {
  // One step from 0 leads to logits beyond +-1e4, for both labels.
  const Rows rows{{200, 1}, {-200, 2}, {300, -1}, {-250, 0.5}, {100, 4}};
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto problem = make(rows, {1, 0, 1, 0, 0}, {{"steps", "2"}, {"learning_rate", "1"}}, dtype);
    for (const Variant* variant : variants("")) {
      SCOPED_TRACE(name_of(*variant));
      const Solved run(*variant, *problem);
      EXPECT_GT(std::abs(run.theta()[1]) * 300, 1e4);
      for (const double value : run.theta()) EXPECT_TRUE(std::isfinite(value));
      for (const double value : run.loss()) EXPECT_TRUE(std::isfinite(value));
      EXPECT_GT(run.loss()[1], 1000);
    }
  }
}

TEST(LogisticRegression, WhatDivergesIsSaidToDiverge) {
  const auto message = [](const Settings& settings, const std::string& problem_name = "") {
    const auto problem = make(settings, Dtype::f32, problem_name);
    std::string first;
    for (const Variant* variant : variants(problem_name)) {
      const Solved run(*variant, *problem);
      const Verdict verdict = problem->check_alone(*run.outputs);
      EXPECT_FALSE(verdict.passed()) << name_of(*variant);
      EXPECT_EQ(verdict.message.substr(0, 8), "diverged") << verdict.message;
      EXPECT_TRUE(verdict.ill_posed) << name_of(*variant);
    }
  };
  message({{"learning_rate", "1e300"}});
  message({{"learning_rate", "500"}, {"rows", "50"}});
  message({{"rows", "1"}, {"features", "3"}}, "newton");  // singular
}

TEST(LogisticRegression, TheToleranceEndsASolve) {
  const auto problem = make({{"steps", "500"}, {"learning_rate", "1"}, {"tolerance", "0.01"}}, Dtype::f64);
  everywhere(*problem, "", [&](const Variant&, const Solved& run) {
    EXPECT_LT(run.steps(), 100);
    const auto last = static_cast<std::size_t>(run.steps() - 1);
    EXPECT_NE(run.loss()[last], run.loss()[last - 1]);
    for (std::size_t step = last; step < 500; ++step) ASSERT_EQ(run.loss()[step], run.loss()[last]);
  });
}

TEST(LogisticRegression, NewtonFindsTheOptimum) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64})
    for (const char* features : {"1", "3", "8", "9", "17", "64"})
      for (const char* l2 : {"0", "0.02"}) {
        const auto problem =
            make({{"rows", "3001"}, {"features", features}, {"l2", l2}, {"tolerance", "1e-6"}}, dtype, "newton");
        everywhere(*problem, "newton", [&](const Variant&, const Solved& run) {
          EXPECT_LT(run.steps(), 14) << features;
          for (const double component : evaluate(*problem, run.theta()).gradient) EXPECT_LT(std::abs(component), 2e-6);
        });
      }
}

TEST(LogisticRegression, SolvesInARowAndOnSeveralDevicesAgree) {
  for (const std::string method : {"", "newton"}) {
    const auto problem = make({{"rows", "4099"}, {"features", "7"}, {"l2", "0.01"}}, Dtype::f32, method);
    for (const Variant* variant : variants(method)) {
      SCOPED_TRACE(name_of(*variant));
      Solved one(*variant, *problem);
      const std::vector<double> theta = one.theta(), loss = one.loss();
      one.again();
      if (variant->model.name != "kokkos_kernels" || variant->model.device != DeviceKind::gpu) {  // it adds by atomics
        EXPECT_EQ(one.theta(), theta);
        EXPECT_EQ(one.loss(), loss);
      }
      if (variant->model.device == DeviceKind::gpu || variant->method == "persistent") continue;
      for (const int devices : {2, 3}) {
        const Solved several(*variant, *problem, {.devices = devices});
        const Verdict verdict = problem->check_alone(*several.outputs);
        EXPECT_TRUE(verdict.passed()) << verdict.message;
        for (std::size_t j = 0; j < theta.size(); ++j) EXPECT_NEAR(several.theta()[j], theta[j], 1e-5);
      }
    }
  }
}

TEST(LogisticRegression, MoreDevicesThanRows) {
  const auto problem = make(Rows{{0.5}, {-0.5}}, {1, 0}, {{"l2", "0.1"}}, Dtype::f64);
  for (const Variant* variant : variants("")) {
    if (variant->model.device == DeviceKind::gpu || variant->method == "persistent") continue;
    SCOPED_TRACE(name_of(*variant));
    const Solved run(*variant, *problem, {.devices = 3});
    const Verdict verdict = problem->check_alone(*run.outputs);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
  }
}

TEST(LogisticRegression, PersistentTakesAnyLeagueThatFitsAtOnceAndOneDevice) {
  const auto persistent = league::tests::variants<LogisticRegression>(
      [](const Variant& variant) { return variant.method == "persistent"; });
  ASSERT_FALSE(persistent.empty());
  for (const char* features : {"1", "4", "9", "16"})  // beyond 16, threads share rows: more than some hosts have
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      SCOPED_TRACE(std::string(features) + " features");
      const auto problem = make({{"rows", "2003"}, {"features", features}, {"l2", "0.01"}, {"steps", "7"}}, dtype);
      league::tests::any_league_that_fits(persistent, *problem);
    }
  const auto problem = make({{"rows", "100"}}, Dtype::f32);
  for (const Variant* variant : persistent) EXPECT_THROW(Solved(*variant, *problem, {.devices = 2}), Unsupported);
}

TEST(LogisticRegression, PersistentAddsTheSumsOfManyTeams) {
  // More rows than a team for each multiprocessor takes at a time.
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto problem = make({{"rows", "140001"}, {"features", "3"}, {"l2", "0.01"}, {"steps", "4"}}, dtype);
    everywhere(*problem, "", [&](const Variant& variant, const Solved& run) {
      if (variant.method != "persistent") return;
      const Verdict verdict = problem->check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
    });
  }
}

TEST(LogisticRegression, WhatDoesNotFitIsRefusedWithTheNumbers) {
  const auto problem = make({{"rows", "100000"}}, Dtype::f32);
  for (const Variant* variant : variants("")) try {
      const Solved run(*variant, *problem, {.budget = 500'000});
      ADD_FAILURE() << name_of(*variant);
    } catch (const Unsupported& refused) {
      EXPECT_NE(std::string(refused.what()).find("budget 500 KB"), std::string::npos) << refused.what();
    }
}

}  // namespace
}  // namespace league::logistic::tests
