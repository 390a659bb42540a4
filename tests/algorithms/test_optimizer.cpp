// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/blocks/optimizer.hpp"

namespace league::blocks {
namespace {

Weight<double> stepped(Optimizer optimizer, double rate, Weight<double> weight, double gradient, std::int64_t step) {
  return advanced<double>(optimizer, weight, gradient, step_size<double>(optimizer, rate, step));
}

TEST(Optimizers, StatesOfEach) {
  EXPECT_EQ(states_of(Optimizer::sgd), 0);
  EXPECT_EQ(states_of(Optimizer::adadelta), 2);
  EXPECT_EQ(states_of(Optimizer::adam), 2);
}

TEST(Optimizers, SgdGoesDownTheGradient) {
  const Weight<double> to = stepped(Optimizer::sgd, 0.25, {3, 7, 8}, -2, 1);
  EXPECT_EQ(to.value, 3.5);
  EXPECT_EQ(to.first, 7) << "no state";
  EXPECT_EQ(to.second, 8) << "no state";
}

TEST(Optimizers, AdadeltaByHand) {
  // s = .1 * .04, change = .2 * sqrt(1e-6) / sqrt(.004001), d = .1 * change^2.
  const double change = 0.2 * 0.001 / std::sqrt(0.004001);
  const Weight<double> to = stepped(Optimizer::adadelta, 0.5, {1, 0, 0}, 0.2, 1);
  EXPECT_NEAR(to.first, 0.004, 1e-17);
  EXPECT_NEAR(to.second, 0.1 * change * change, 1e-20);
  EXPECT_NEAR(to.value, 1 - 0.5 * change, 1e-15);
  // From there, by -.1: s = .9 * .004 + .1 * .01.
  const double next = -0.1 * std::sqrt(0.1 * change * change + 1e-6) / std::sqrt(0.004601);
  const Weight<double> then = stepped(Optimizer::adadelta, 0.5, to, -0.1, 2);
  EXPECT_NEAR(then.first, 0.0046, 1e-17);
  EXPECT_NEAR(then.second, 0.1 * (0.9 * change * change + next * next), 1e-20);
  EXPECT_NEAR(then.value, to.value - 0.5 * next, 1e-15);
}

TEST(Optimizers, AdamByHand) {
  const Weight<double> to = stepped(Optimizer::adam, 0.01, {1, 0, 0}, -0.2, 1);
  EXPECT_NEAR(to.first, -0.02, 1e-17);
  EXPECT_NEAR(to.second, 0.00004, 1e-19);
  EXPECT_NEAR(to.value, 1 + 0.01 * 0.2 / (0.2 + 1e-8), 1e-15);
  // m = -.018 + .01, v = .00003996 + .00001; corrected by .19 and .001999.
  const Weight<double> then = stepped(Optimizer::adam, 0.01, to, 0.1, 2);
  EXPECT_NEAR(then.first, -0.008, 1e-17);
  EXPECT_NEAR(then.second, 0.00004996, 1e-19);
  EXPECT_NEAR(then.value, to.value + 0.01 * (0.008 / 0.19) / (std::sqrt(0.00004996 / 0.001999) + 1e-8), 1e-14);
}

TEST(Optimizers, AdamsCorrectionMakesUpForTheStartAtZero) {
  Weight<double> weight{0, 0, 0};
  for (std::int64_t step = 1; step <= 50; ++step) {  // means of a constant
    const double before = weight.value;
    weight = stepped(Optimizer::adam, 0.01, weight, 0.3, step);
    EXPECT_NEAR(before - weight.value, 0.01 * 0.3 / (0.3 + 1e-8), 1e-15) << "step " << step;
  }
  const auto first = step_size<float>(Optimizer::adam, 1, 1), late = step_size<float>(Optimizer::adam, 1, 100'000);
  EXPECT_FLOAT_EQ(first.first_scale, 10);
  EXPECT_FLOAT_EQ(first.second_scale, 1000) << "1 - 0.999 in f32 is off by 1e-5";
  EXPECT_EQ(late.first_scale, 1);
  EXPECT_EQ(late.second_scale, 1);
}

TEST(Optimizers, WithoutGradientsNothingMoves) {
  for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adadelta, Optimizer::adam}) {
    const Weight<double> to = stepped(optimizer, 1, {0.5, 0, 0}, 0, 1);
    EXPECT_EQ(to.value, 0.5);
    EXPECT_EQ(to.first, 0);
    EXPECT_EQ(to.second, 0);
  }
}

}  // namespace
}  // namespace league::blocks
