// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <limits>

#include "tests/algorithms/linear_regression.hpp"

// The oracle of the descents and of the normal equations.
namespace league {
namespace {

using namespace tests::linear_regression;

struct Golden {
  const char* start;
  int factor;
  double weight, bias, test_mse;
};
/// Published for x on [0, 8), 200 epochs at 0.01, and the factor of the gradient in each version.
constexpr std::array goldens{
    Golden{"zero", 1, .718881, .200443, -1},      Golden{"zero", 2, .711630, .238678, -1},
    Golden{"zero", 4, .704397, .276817, -1},      Golden{"study", 1, .650346, .561825, 3.5e-2},
    Golden{"study", 2, .669415, .461272, 1.3e-2}, Golden{"study", 4, .688437, .360970, 1.9e-3}};

TEST(LeastSquares, ReachesThePublishedValues) {
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(std::string(golden.start) + " " + std::to_string(golden.factor));
    const auto problem =
        make({{"points", "1250000"}, {"start", golden.start}, {"learning_rate", golden.factor == 2 ? "0.02" : "0.01"}},
             Dtype::f64, golden.factor == 4 ? "segmented" : "");
    const auto descended = descended_of(*problem);
    EXPECT_NEAR(descended.theta[0], golden.weight, 4e-6);
    EXPECT_NEAR(descended.theta[1], golden.bias, 4e-6);
    const auto test = problem->moments({problem->rows, problem->points}, alone);
    const double mse =
        static_cast<double>(least_squares::squared_error(test, descended.theta)) / static_cast<double>(250000);
    if (golden.test_mse > 0) {
      EXPECT_NEAR(mse, golden.test_mse, golden.test_mse * .03);
    }
  }
}

TEST(LeastSquares, IsTheClosedForm) {
  for (const std::int64_t points : {10, 500, 5000})
    for (const bool study : {false, true}) {
      const auto problem = make({{"points", std::to_string(points)}, {"start", study ? "study" : "zero"}});
      const auto descended = descended_of(*problem);
      const auto expected = closed_form(points, study ? std::array{.83, .7645} : std::array{0.0, 0.0}, 0.01, 200);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(descended.theta[i], expected[i], 1e-13);  // targets and abscissae are rounded to double
        EXPECT_LT(descended.theta_bound[i], 1e-10) << "the bound is too large";
      }
      const auto rough = make({{"points", std::to_string(points)}}, Dtype::f32);
      for (const double bound : descended_of(*rough).theta_bound) EXPECT_LT(bound, 2e-4);
    }
}

TEST(LeastSquares, SingularEquationsAreNamed) {
  const auto problem = make({{"points", "5"}, {"features", "8"}}, Dtype::f64, "normal_equations");
  try {
    static_cast<void>(problem->minimum(alone));
    FAIL() << "4 rows cannot determine 9 values";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("the normal equations are singular: column"), std::string::npos);
  }
}

TEST(LeastSquares, ADescentIsJudgedByItsBounds) {
  const least_squares::Descended right{
      .theta = {1, -2}, .theta_bound = {0.1, 0.1}, .loss = {4, 2, 1}, .loss_bound = {0.1, 0.1, 0.1}};
  const auto judged = [&](std::vector<double> theta, std::vector<double> loss, std::int64_t steps,
                          const least_squares::Descended& expected, Dtype dtype, double summed = 1) {
    std::pmr::memory_resource& memory = tests::runtime().host_memory();
    Outputs outputs{{"theta", HostArray(memory, Dtype::f64, {2}), {0, 2}},
                    {"loss", HostArray(memory, Dtype::f64, {3}), {0, 3}},
                    {"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}}};
    std::ranges::copy(theta, outputs[0].values.values<double>().begin());
    std::ranges::copy(loss, outputs[1].values.values<double>().begin());
    outputs[2].values.values<std::int64_t>()[0] = steps;
    return least_squares::judge(expected, outputs, dtype, summed);
  };
  const Verdict passed = judged({1.05, -2}, {4, 1.95, 1.05}, 3, right, Dtype::f32);
  EXPECT_TRUE(passed.passed()) << passed.message;
  EXPECT_NEAR(passed.worst, 0.5, 1e-12);
  ASSERT_EQ(passed.figures.size(), 1U);
  EXPECT_EQ(passed.figures[0].name, "train_loss");
  EXPECT_EQ(passed.figures[0].value(), 1.05);
  const auto message = [&](auto... values) { return judged(values...).message.substr(0, 27); };
  using Reals = std::vector<double>;
  EXPECT_EQ(message(Reals{1, -1.8}, Reals{4, 2, 1}, 3, right, Dtype::f32), "theta[1] is -1.8, expected ");
  EXPECT_EQ(message(Reals{1, -2}, Reals{4, 2, 2}, 3, right, Dtype::f32), "loss[2] is 2, expected 1 wi");
  EXPECT_EQ(message(Reals{1, -2}, Reals{4, 2, 1}, 2, right, Dtype::f32), "steps[0] is 2, expected 3 w");
  // Overflows in float, or in a float sum over 1000 rows, but not in double.
  const double inf = std::numeric_limits<double>::infinity();
  least_squares::Descended far = right;
  far.loss = {4, 2, 1e34};
  far.theta_bound = far.loss_bound = {1e9, 1e9, 1e9};
  const std::string wrong = "loss[2] is inf, expected 1e", diverged = "diverged: the loss is not f";
  EXPECT_EQ(message(Reals{1, -2}, Reals{4, 2, inf}, 3, far, Dtype::f32), wrong);
  EXPECT_EQ(message(Reals{1, -2}, Reals{4, 2, inf}, 3, far, Dtype::f32, 1000.0), diverged);
  EXPECT_EQ(message(Reals{1, -2}, Reals{4, 2, inf}, 3, far, Dtype::f64, 1000.0), wrong);
  EXPECT_EQ(message(Reals{1, -2}, Reals{4, 2, 1e34}, 3, far, Dtype::f64), "diverged: the loss grows fr");
}

TEST(LeastSquares, EigenvectorsGiveTheMatrixBack) {
  constexpr int n = 5;
  std::vector<double> matrix(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) matrix[static_cast<std::size_t>(i * n + j)] = 1.0 / (1 + i + j) + (i == j ? i : 0);
  const auto [values, vectors] = least_squares::eigen(matrix, n);
  EXPECT_TRUE(std::ranges::is_sorted(values));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double back = 0, product = 0;
      for (int k = 0; k < n; ++k) {
        const double left = vectors[static_cast<std::size_t>(i * n + k)];
        back += left * values[static_cast<std::size_t>(k)] * vectors[static_cast<std::size_t>(j * n + k)];
        product += left * vectors[static_cast<std::size_t>(j * n + k)];
      }
      EXPECT_NEAR(back, matrix[static_cast<std::size_t>(i * n + j)], 1e-14);
      EXPECT_NEAR(product, i == j ? 1 : 0, 1e-14);
    }
}

}  // namespace
}  // namespace league
