// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>

#include "tests/algorithms/softmax_regression.hpp"

namespace league::softmax_regression::tests {
namespace {

TEST(SoftmaxRegression, TheOraclesDerivativesAreThoseOfItsLoss) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f32}) {
    const Dataset data = generated(37, 2, 5, 4, dtype);
    const auto problem = make(data, dtype, {{"l2", "0.3"}});
    const Rows rows{3, 37};
    std::vector<double> theta = random_theta(*problem, 2), direction = random_theta(*problem, 1);
    const Evaluation at = evaluate(*problem, rows, theta, direction);
    constexpr double step = 1e-5;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      const double there = theta[i];
      theta[i] = there + step;
      const double above = evaluate(*problem, rows, theta).loss;
      theta[i] = there - step;
      const double below = evaluate(*problem, rows, theta).loss;
      theta[i] = there;
      EXPECT_NEAR((above - below) / (2 * step), at.gradient[i], 1e-9) << "parameter " << i;
    }
    std::vector<double> ahead = theta, behind = theta;
    for (std::size_t i = 0; i < theta.size(); ++i) ahead[i] += step * direction[i], behind[i] -= step * direction[i];
    const Evaluation above = evaluate(*problem, rows, ahead), below = evaluate(*problem, rows, behind);
    for (std::size_t i = 0; i < theta.size(); ++i) {  // the penalty's own curvature stands apart
      const double penalty = i < theta.size() - 4 ? problem->l2 * direction[i] : 0;
      EXPECT_NEAR((above.gradient[i] - below.gradient[i]) / (2 * step), at.curvature[i] + penalty, 1e-9);
    }
  }
}

TEST(SoftmaxRegression, ProbabilitiesOfARowAddUpToOne) {
  const Dataset data = generated(40, 1, 6, 7, Dtype::f32, 30);
  const auto problem = make(data, Dtype::f32);
  const Evaluation at = evaluate(*problem, {0, 40}, random_theta(*problem, 1));
  for (std::size_t f = 0; f < 7; ++f) {  // so do residuals to 0, and with them each feature's gradients
    double sum = 0;
    for (std::size_t c = 0; c < 7; ++c) sum += at.gradient[f * 7 + c];
    EXPECT_NEAR(sum, 0, 1e-12);
  }
}

TEST(SoftmaxRegression, SoftmaxOfARow) {
  const auto residuals = [](std::vector<float> z, int label) {
    const double loss = softmax_row(z.data(), static_cast<int>(z.size()), label, InOrder{});
    EXPECT_TRUE(std::isfinite(loss));
    z.push_back(static_cast<float>(loss));
    return z;
  };
  EXPECT_EQ(residuals({1e4F, -1e4F, 0}, 0), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(residuals({1e4F, -1e4F, 0}, 1), (std::vector<float>{1, -1, 0, 2e4F}));
  EXPECT_EQ(residuals({-1e4F, -1e4F}, 1), (std::vector<float>{0.5F, -0.5F, std::log(2.0F)}));
  EXPECT_EQ(residuals({1, 2, 4, -3}, 2), residuals({1025, 1026, 1028, 1021}, 2)) << "shifted";
  const std::vector<float> four = residuals({1, 2, 4, -3}, 2);
  EXPECT_NEAR(four[0] + four[1] + four[2] + four[3], 0, 4 * eps);
}

TEST(SoftmaxRegression, EqualLogitsGoToTheLowestClass) {
  const auto problem = make(generated(4, 3, 2, 5, Dtype::u8), Dtype::u8);
  std::vector<double> theta(15);
  EXPECT_EQ(predict(*problem, theta), (std::vector<std::int32_t>{0, 0, 0}));
  theta[12] = theta[13] = 1;  // the biases of classes 2 and 3
  EXPECT_EQ(predict(*problem, theta), (std::vector<std::int32_t>{2, 2, 2}));
}

TEST(SoftmaxRegression, TestRowsGoToTheClassOfTheirLargestLogit) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f32}) {
    const Dataset data = generated(4, 40, 5, 3, dtype);
    const auto problem = make(data, dtype);
    const std::vector<double> theta = random_theta(*problem, 2);
    std::vector<std::int32_t> expected;
    for (std::size_t row = 0; row < 40; ++row) {
      std::vector<double> z(theta.end() - 3, theta.end());
      for (std::size_t i = 0; i < 15; ++i) {
        const std::size_t at = row * 5 + i / 3;
        const double value = dtype == Dtype::u8 ? data.test.values<const std::uint8_t>()[at] / 255.0
                                                : static_cast<double>(data.test.values<const float>()[at]);
        z[i % 3] += value * theta[i];
      }
      expected.push_back(static_cast<std::int32_t>(std::ranges::max_element(z) - z.begin()));
    }
    EXPECT_EQ(predict(*problem, theta), expected);
    EXPECT_NE(std::ranges::count(expected, expected[0]), 40) << "more than one class";
  }
}

TEST(SoftmaxRegression, AllVariantsOnSeveralDevices) {
  for (const Dtype dtype : {Dtype::u8, Dtype::f32}) {
    everywhere(*make(generated(1, 1, 1, 2, Dtype::u8), dtype), {1, 2});
    everywhere(*make(generated(2, 3, 15, 3, Dtype::u8), dtype), {1, 3});  // an empty shard
    everywhere(*make(generated(331, 3, 40, 10, Dtype::u8), dtype, {{"batch", "64"}, {"l2", "0.1"}, {"steps", "9"}}),
               {1, 2, 3});
    everywhere(*make(generated(50, 3, 40, 10, Dtype::u8), dtype, {{"batch", "16"}, {"l2", "0.1"}, {"steps", "9"}}));
    everywhere(*make(generated(67, 3, 17, 11, Dtype::u8), dtype), {1, 2});
    everywhere(*make(generated(100, 3, 1100, 64, Dtype::u8), dtype, {{"steps", "2"}}), {1, 2});
  }
  everywhere(*make(generated(150, 3, 9, 4, Dtype::f32), Dtype::f32, {{"learning_rate", "0.5"}}), {1, 3});
}

TEST(SoftmaxRegression, LogitsFarFromEachOther) {
  // The first step takes the logits to some 1e4.
  const auto problem =
      make(generated(90, 5, 3, 3, Dtype::f32, 200), Dtype::f32, {{"learning_rate", "1"}, {"steps", "2"}});
  const Evaluation at = evaluate(*problem, {0, 90}, random_theta(*problem, 2e4));
  EXPECT_TRUE(std::isfinite(at.loss));
  for (const Variant* variant : variants()) {
    SCOPED_TRACE(name_of(*variant));
    const Solved run(*variant, *problem);
    for (const double value : run.values(SoftmaxRegression::theta)) EXPECT_TRUE(std::isfinite(value));
    for (const double value : run.values(SoftmaxRegression::loss)) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(SoftmaxRegression, AnotherSolverIsJudgedByItsLoss) {
  const auto problem = make(generated(150, 3, 9, 4, Dtype::f32), Dtype::f32, {{"steps", "20"}, {"l2", "0.01"}});
  Reduce alone;
  const auto after = [&](std::int64_t steps) {
    const auto other = make(problem->data, Dtype::f32, {{"steps", std::to_string(steps)}, {"l2", "0.01"}});
    return other->oracle().path(alone).theta;
  };
  const auto judged = [&](const std::vector<double>& theta) {
    Outputs outputs = problem->make_outputs({0, problem->extent()}, league::tests::runtime().host_memory());
    std::ranges::copy(theta, outputs[SoftmaxRegression::theta].values.values<double>().begin());
    std::ranges::fill(outputs[SoftmaxRegression::loss].values.values<double>(), std::nan(""));  // it has none of a step
    outputs[SoftmaxRegression::theta].form = SoftmaxRegression::equal_loss;
    outputs[SoftmaxRegression::steps_taken].values.values<std::int64_t>()[0] = 3;
    return problem->check(outputs, alone);
  };
  const std::vector<double> before = after(19), last = after(20);
  EXPECT_TRUE(judged(last).passed()) << judged(last).message;
  EXPECT_TRUE(judged(after(30)).passed()) << "a smaller loss";
  const Verdict above = judged(before);
  EXPECT_NE(above.message.find("that of the descent after its last step"), std::string::npos) << above.message;

  // On the way from the last theta to the one before, the loss rises through its bound.
  const Rows all{0, problem->extent()};
  const Evaluation lowest = evaluate(*problem, all, last);
  const double bound = problem->oracle().path(alone).loss_bounds[product].back() + lowest.loss_error;
  for (const double bounds : {0.5, 2.0}) {
    double near = 0, far = 1;
    std::vector<double> theta = last;
    for (int i = 0; i < 50; ++i) {
      const double share = (near + far) / 2;
      for (std::size_t k = 0; k < theta.size(); ++k) theta[k] = last[k] + share * (before[k] - last[k]);
      (evaluate(*problem, all, theta).loss - lowest.loss < bounds * bound ? near : far) = share;
    }
    EXPECT_EQ(judged(theta).passed(), bounds < 1) << bounds << " bounds above";
  }
}

void expect_refused(const Dataset& data, Dtype dtype, const Values& values, const std::string& key) {
  try {
    make(data, dtype, values);
    ADD_FAILURE() << "accepted, in spite of " << key;
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find(key), std::string::npos) << refused.what();
  }
}

TEST(SoftmaxRegression, BadInputIsNamed) {
  Dataset good = generated(20, 4, 3, 5, Dtype::f32);
  expect_refused(generated(20, 4, 3, 1, Dtype::u8), Dtype::u8, {}, "classes: 1; from 2 to 64");
  expect_refused(generated(20, 4, 3, 65, Dtype::u8), Dtype::u8, {}, "classes: 65; from 2 to 64");
  expect_refused(generated(2, 1, 4097, 3, Dtype::u8), Dtype::u8, {}, "from 1 to 4096");
  expect_refused(good, Dtype::u8, {}, "dtype u8");
  expect_refused(good, Dtype::f32, {{"steps", "0"}}, "steps = 0");
  expect_refused(good, Dtype::f32, {{"learning_rate", "inf"}}, "learning_rate");
  expect_refused(good, Dtype::f32, {{"learning_rate", "0"}}, "learning_rate");
  expect_refused(good, Dtype::f32, {{"l2", "-1"}}, "l2");
  good.train.values<float>()[17 * 3 + 1] = std::numeric_limits<float>::quiet_NaN();
  expect_refused(good, Dtype::f32, {}, "training row 17");
  Dataset other = generated(20, 4, 3, 5, Dtype::f32);
  other.train_labels.values<std::int32_t>()[11] = 5;
  expect_refused(other, Dtype::f32, {}, "training row 11 has the label 5: from 0 to 4");
  other.train_labels.values<std::int32_t>()[11] = 4;
  other.test_labels.values<std::int32_t>()[3] = -1;
  expect_refused(other, Dtype::f32, {}, "test row 3 has the label -1");
}

TEST(SoftmaxRegression, ManyRowsAreRefusedByDual) {
  for (const auto& [rows, devices, reason] :
       {std::tuple{236, 1, "here up to 235 rows"}, std::tuple{20, 2, "one device, not 2"}}) {
    const Variant& dual = *registry().variant(SoftmaxRegression::algorithm, "dual", "kokkos");
    if (!has_devices(dual, devices)) continue;
    try {
      const auto problem = make(generated(rows, 1, 3, 5, Dtype::u8), Dtype::f32);
      const Solved run(dual, *problem, {.devices = devices});
      ADD_FAILURE() << reason;
    } catch (const Unsupported& refused) {
      EXPECT_NE(std::string(refused.what()).find(reason), std::string::npos) << refused.what();
    }
  }
}

TEST(SoftmaxRegression, WhatDoesNotFitIsRefusedWithTheNumbers) {
  const auto problem = make(generated(100, 4, 150, 5, Dtype::u8), Dtype::f32);
  const auto narrow = make(generated(1000, 4, 15, 5, Dtype::u8), Dtype::f32);
  for (const Variant* variant : variants()) try {
      const Solved run(*variant, *(variant->method == "persistent" ? narrow : problem), {.budget = 50'000});
      ADD_FAILURE() << name_of(*variant);
    } catch (const Unsupported& refused) {
      EXPECT_NE(std::string(refused.what()).find("budget 50 KB"), std::string::npos) << refused.what();
    }
}

/// The message of a check of modified right results.
std::string spoilt(const SoftmaxRegression& problem, const std::function<void(Outputs&)>& spoil) {
  Solved run(*registry().variant(SoftmaxRegression::algorithm, "fused", "serial"), problem);
  EXPECT_TRUE(problem.check_alone(*run.outputs).passed());
  spoil(run.results);
  const Verdict verdict = problem.check_alone(*run.outputs);
  EXPECT_FALSE(verdict.passed());
  return verdict.message;
}

TEST(SoftmaxRegression, CheckFindsWhatIsWrong) {
  const auto problem = make(generated(60, 20, 9, 4, Dtype::u8), Dtype::u8);
  const auto loss = [](Outputs& outputs) { return outputs[SoftmaxRegression::loss].values.values<double>(); };
  EXPECT_NE(spoilt(*problem, [&](Outputs& outputs) { loss(outputs)[3] += 1e-4; }).find("loss[3]"), std::string::npos);
  EXPECT_NE(
      spoilt(*problem, [](Outputs& outputs) { outputs[SoftmaxRegression::theta].values.values<double>()[21] += 1e-4; })
          .find("theta"),
      std::string::npos);
  EXPECT_NE(
      spoilt(*problem,
             [](Outputs& outputs) { outputs[SoftmaxRegression::theta].values.values<double>()[0] = std::nan(""); })
          .find("theta"),
      std::string::npos);
  EXPECT_NE(
      spoilt(*problem,
             [](Outputs& outputs) { outputs[SoftmaxRegression::steps_taken].values.values<std::int64_t>()[0] = 4; })
          .find("steps"),
      std::string::npos);
  EXPECT_NE(spoilt(*problem, [&](Outputs& outputs) { loss(outputs)[2] = std::nan(""); })
                .find("diverged: the loss is not finite from step 2 on; lower learning_rate"),
            std::string::npos);
}

TEST(SoftmaxRegression, OneRowLeftOutIsFound) {
  const auto problem = make(generated(4000, 20, 9, 4, Dtype::u8), Dtype::u8);
  const auto less = make(generated(4000, 20, 9, 4, Dtype::u8), Dtype::u8);
  less->data.train_labels.values<std::int32_t>()[3999] = 3 - less->data.train_labels.values<std::int32_t>()[3999];
  Solved run(*registry().variant(SoftmaxRegression::algorithm, "fused", "serial"), *less);
  EXPECT_FALSE(problem->check_alone(*run.outputs).passed());
}

TEST(SoftmaxRegression, StepsThatAreTooLongAreSaidToDiverge) {
  const auto problem =
      make(generated(200, 20, 30, 4, Dtype::f32, 50), Dtype::f32, {{"learning_rate", "100"}, {"steps", "20"}});
  Solved run(*registry().variant(SoftmaxRegression::algorithm, "fused", "serial"), *problem);
  const Verdict verdict = problem->check_alone(*run.outputs);
  EXPECT_FALSE(verdict.passed());
  EXPECT_NE(verdict.message.find("diverged"), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.message.find("lower learning_rate"), std::string::npos) << verdict.message;
  EXPECT_TRUE(verdict.ill_posed);
}

}  // namespace
}  // namespace league::softmax_regression::tests
