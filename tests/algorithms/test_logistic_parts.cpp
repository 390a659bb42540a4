// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "algorithms/logistic_regression/common/newton_step.hpp"
#include "algorithms/logistic_regression/common/row.hpp"
#include "tests/algorithms/logistic_regression.hpp"

// The parts of logistic regression, its invalid inputs, and its check.
namespace league::logistic::tests {
namespace {

TEST(LogisticShards, GradientAndHessianAreDerivatives) {
  const auto problem = make({{"rows", "700"}, {"features", "5"}, {"l2", "0.3"}}, Dtype::f64, "newton");
  const Values at{0.2, -1.5, 0.7, 0.1, -0.4, 2.0};
  const Evaluation here = evaluate(*problem, at);
  constexpr double h = 1e-5;
  for (std::size_t j = 0; j < at.size(); ++j) {
    Values above = at, below = at;
    above[j] += h, below[j] -= h;
    const Evaluation up = evaluate(*problem, above), down = evaluate(*problem, below);
    EXPECT_NEAR(here.gradient[j], (up.loss - down.loss) / (2 * h), 1e-9);
    for (std::size_t k = 0; k < at.size(); ++k)
      EXPECT_NEAR(here.hessian[k * at.size() + j], (up.gradient[k] - down.gradient[k]) / (2 * h), 1e-9);
  }
}

template <class T>
void expect_row_terms() {
  constexpr T eps = std::numeric_limits<T>::epsilon();
  for (int i = -3000; i <= 3000; ++i)
    for (const T y : {T{0}, T{1}}) {
      const T z = static_cast<T>(i) / 40;
      const long double t = std::exp(-std::abs(static_cast<long double>(z)));
      const long double p = z >= 0 ? 1 / (1 + t) : t / (1 + t);
      const long double loss = std::max<long double>(z, 0) - y * static_cast<long double>(z) + std::log1p(t);
      const long double weight = t / ((1 + t) * (1 + t));
      const RowTerms<T> terms = row_terms(z, y);
      ASSERT_NEAR(terms.residual, static_cast<double>(p - y), 3 * eps) << z;
      ASSERT_NEAR(terms.loss, static_cast<double>(loss), eps * static_cast<double>(5 * loss + 2 * std::abs(z))) << z;
      ASSERT_NEAR(terms.weight, static_cast<double>(weight), 6 * eps * static_cast<double>(weight)) << z;
    }
  for (const T z : {T{-1e4}, T{1e4}, static_cast<T>(-1e30), static_cast<T>(1e30)})
    for (const T y : {T{0}, T{1}}) {
      const RowTerms<T> terms = row_terms(z, y);
      EXPECT_EQ(terms.residual, (z > 0 ? T{1} : terms.weight) - y);
      EXPECT_NEAR(terms.loss, (z > 0) == (y > 0) ? T{0} : std::abs(z), 1e-30);
    }
  EXPECT_TRUE(std::isnan(row_terms(std::numeric_limits<T>::quiet_NaN(), T{1}).residual));
  EXPECT_TRUE(std::isnan(row_terms(std::numeric_limits<T>::quiet_NaN(), T{1}).loss));
}

TEST(LogisticShards, TermsOfARowAreWithinTheirRoundings) {
  expect_row_terms<float>();
  expect_row_terms<double>();
}

/// 1 to 16 rows whose losses share a logarithm: one logit in all of them, or each 37 or 1,501 fortieths above the last.
template <class T, class Terms>
void expect_shared_terms(const Terms& terms_of) {
  constexpr T eps = std::numeric_limits<T>::epsilon();
  for (int i = -3000; i <= 3000; ++i)
    for (const int rows : {1, 2, 4, 8, 16})
      for (const int stride : {0, 37, 1501}) {
        SharedLoss<T> shared;
        long double loss = 0;
        double bound = 0;
        for (int row = 0; row < rows; ++row) {
          const T z = static_cast<T>((i + 3000 + stride * row) % 6001 - 3000) / 40, y = static_cast<T>((i + row) & 1);
          const RowTerms<T> alone = row_terms(z, y);
          const SharedTerms<T> terms = terms_of(z, y);
          ASSERT_NEAR(terms.residual, alone.residual, 3 * eps) << z;
          ASSERT_NEAR(terms.weight, alone.weight, 6 * eps * static_cast<double>(alone.weight)) << z;
          shared.add(terms);
          const auto exact = static_cast<long double>(z);
          const long double of_row =
              std::max<long double>(exact, 0) - y * exact + std::log1p(std::exp(-std::abs(exact)));
          loss += of_row;
          bound += static_cast<double>(5 * of_row + 2 * std::abs(exact));
        }
        ASSERT_NEAR(shared.value(), static_cast<double>(loss), eps * bound) << i << ' ' << rows << ' ' << stride;
      }
  for (const T z : {static_cast<T>(-1e30), static_cast<T>(1e30)}) {
    SharedLoss<T> loss;
    loss.add(terms_of(z, T{0}));
    EXPECT_EQ(loss.value(), z > 0 ? z : T{0});
  }
  SharedLoss<T> loss;
  loss.add(terms_of(std::numeric_limits<T>::quiet_NaN(), T{0}));
  EXPECT_TRUE(std::isnan(loss.value()));
}

TEST(LogisticShards, RowsThatShareALogarithmAreWithinTheirRoundings) {
  const auto by_series = []<class T>(T z, T y) { return shared_terms(z, y, exp_of_negative(z < 0 ? z : -z)); };
  const auto by_power = []<class T>(T z, T y) { return shared_terms(z, y); };
  expect_shared_terms<float>(by_power);
  expect_shared_terms<double>(by_power);
  expect_shared_terms<float>(by_series);
  expect_shared_terms<double>(by_series);
}

TEST(LogisticShards, LogarithmsOfProductsAreWithinTheirRoundings) {
  for (int i = 0; i <= 16000; ++i) {
    const double x = std::exp2(i / 1000.0);
    const double log = std::log(x), single = std::log(static_cast<double>(static_cast<float>(x)));
    ASSERT_NEAR(log_of_product(x), log, 3 * 0x1p-52 * std::max(1.0, log)) << x;
    ASSERT_NEAR(log_of_product(static_cast<float>(x)), single, 3 * 0x1p-23 * std::max(1.0, single)) << x;
  }
}

TEST(LogisticShards, ANewtonStepThatGrowsTheLossIsHalved) {
  // One feature, ten rows; after a step from (1, 2) by (4, -8), whose loss was 0.5.
  std::array<double, 2> theta{5, -6};
  std::array<double, 8> loss{0.5};
  std::array<double, 5> accepted{1, 2, 4, -8, 0.5};
  std::array<double, 6> sums{9, 1, 2, 2.5, 0, 2.5};  // loss, gradient, Hessian
  std::array<std::int64_t, controls> control{1, 0, 0};
  std::int64_t taken = 1;
  const State state{theta.data(), loss.data(), &taken, sums.data(), control.data(), accepted.data()};
  const Rule rule{.features = 1, .share = 0.1, .learning_rate = 1, .l2 = 0, .tolerance = 0};
  const auto alone = blocks::group_of(0, 1, [] {});
  std::array<double, newton_scratch<host_solve_side>(1)> scratch{};
  newton_step<host_solve_side>(alone, rule, state, scratch.data());
  EXPECT_EQ(theta, (std::array<double, 2>{3, -2}));
  newton_step<host_solve_side>(alone, rule, state, scratch.data());
  EXPECT_EQ(theta, (std::array<double, 2>{2, 0}));
  EXPECT_EQ(control[halvings], 2);
  sums[0] = 4;  // lower than before: a new step, by -H^-1 gradient
  newton_step<host_solve_side>(alone, rule, state, scratch.data());
  EXPECT_DOUBLE_EQ(theta[0], 2 - 0.4);
  EXPECT_DOUBLE_EQ(theta[1], 0 - 0.8);
  EXPECT_EQ(control[halvings], 0);
  EXPECT_EQ(taken, 4);
  EXPECT_EQ((std::array{loss[1], loss[2], loss[3]}), (std::array{0.9, 0.9, 0.4}));
}

void expect_refused(const std::function<void()>& act, const std::string& words) {
  try {
    act();
    ADD_FAILURE() << "accepted, in spite of " << words;
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find(words), std::string::npos) << refused.what();
  }
}

TEST(LogisticShards, BadInputIsNamed) {
  const auto refuse = [](const Settings& settings, const std::string& words) {
    expect_refused([&] { make(settings, Dtype::f32); }, words);
  };
  refuse({{"features", "65"}}, "features = 65: takes 1 to 64");
  refuse({{"features", "0"}}, "features = 0: takes 1 to 64");
  refuse({{"rows", "0"}}, "rows = 0");
  refuse({{"steps", "0"}}, "steps = 0");
  refuse({{"learning_rate", "nan"}}, "learning_rate = nan");
  refuse({{"learning_rate", "inf"}}, "learning_rate = inf");
  refuse({{"learning_rate", "0"}}, "learning_rate = 0");
  refuse({{"l2", "-1"}}, "l2 = -1");
  refuse({{"tolerance", "nan"}}, "tolerance = nan");
  refuse({{"data", "a4"}, {"features", "3"}}, "\"a4\" has 2 features");
  expect_refused([] { make(Settings{}, Dtype::u8); }, "dtype u8");
  const double nan = std::nan("");
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    expect_refused([&] { make({{1, 2}, {3, nan}, {nan, 1}}, {0, 1, 0}, {}, dtype); }, "row 2, feature 0 is nan");
    expect_refused([&] { make({{1}, {2}}, {0, 2}, {}, dtype); }, "row 1 has label 2: takes 0 and 1");
    expect_refused([&] { make({{1}, {2}}, {0}, {}, dtype); }, "1 labels for 2 rows");
  }
}

TEST(LogisticShards, CheckFindsWhatIsWrong) {
  for (const std::string name : {"", "newton"}) {
    const auto problem =
        make({{"rows", "500"}, {"features", "3"}, {"tolerance", "0.001"}, {"learning_rate", "1"}, {"steps", "400"}},
             Dtype::f32, name);
    const auto expect_found = [&](const std::function<void(Outputs&)>& spoil) {
      Solved run(*registry().variant("logistic_regression", name.empty() ? "fused" : name, "serial"), *problem);
      ASSERT_TRUE(problem->check_alone(*run.outputs).passed()) << problem->check_alone(*run.outputs).message;
      spoil(run.results);
      EXPECT_FALSE(problem->check_alone(*run.outputs).passed());
    };
    expect_found([](Outputs& outputs) { outputs[LogisticRegression::theta].values.values<double>()[2] += 0.02; });
    expect_found(
        [](Outputs& outputs) { outputs[LogisticRegression::theta].values.values<double>()[0] = std::nan(""); });
    expect_found([](Outputs& outputs) { outputs[LogisticRegression::loss].values.values<double>()[0] += 1e-4; });
    expect_found([](Outputs& outputs) { outputs[LogisticRegression::loss].values.values<double>()[399] += 1e-3; });
    expect_found([](Outputs& outputs) { --outputs[LogisticRegression::steps_taken].values.values<std::int64_t>()[0]; });
    expect_found(
        [](Outputs& outputs) { outputs[LogisticRegression::steps_taken].values.values<std::int64_t>()[0] = 400; });
  }
}

}  // namespace
}  // namespace league::logistic::tests
