// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <functional>

#include "tests/algorithms/cnn.hpp"

// Wrong results specific to training: each fault is self-consistent, with an update from its own gradient.
namespace league::cnn::tests {
namespace {

constexpr double unit = 0x1p-24;

std::int64_t last_of(const Cnn& problem) { return problem.warm_up + problem.steps - 1; }

/// Recomputes weights and state from the previous ones and the gradient, as a variant does.
void replay(const Cnn& problem, Outputs& outputs) {
  const auto before = values_of<float>(outputs, Cnn::weights_before),
             state_before = values_of<float>(outputs, Cnn::state_before),
             gradient = values_of<float>(outputs, Cnn::gradient), weights = values_of<float>(outputs, Cnn::weights),
             state = values_of<float>(outputs, Cnn::state);
  const std::int64_t last = last_of(problem);
  const auto size = blocks::step_size<float>(problem.optimizer, problem.rate_of(last), last + 1);
  const bool has_state = blocks::states_of(problem.optimizer) > 0;
  for (std::size_t i = 0; i < parameters; ++i) {
    blocks::Weight<float> weight{before[i], 0, 0};
    if (has_state) weight.first = state_before[i], weight.second = state_before[parameters + i];
    weight = blocks::advanced<float>(problem.optimizer, weight, gradient[i], size);
    weights[i] = weight.value;
    if (has_state) state[i] = weight.first, state[parameters + i] = weight.second;
  }
}

/// Repeats the last step with this gradient and loss.
void take(const Cnn& problem, const Gradient& gradient, Outputs& outputs) {
  std::ranges::transform(gradient.values, values_of<float>(outputs, Cnn::gradient).begin(),
                         [](double value) { return static_cast<float>(value); });
  values_of<float>(outputs, Cnn::loss).back() = static_cast<float>(gradient.loss);
  replay(problem, outputs);
}

/// Two steps on 4 images each.
class CnnFaults : public ::testing::Test {
 protected:
  explicit CnnFaults(std::string name = "adadelta")
      : optimizer_(std::move(name)), problem_(of_steps("2")), run_(reference(), *problem_) {}
  [[nodiscard]] std::unique_ptr<Cnn> of_steps(const std::string& steps) const {
    const std::map<std::string, std::string> rates{{"adadelta", "1"}, {"sgd", "0.01"}, {"adam", "0.001"}};
    return make(generated(8),
                {{"steps", steps}, {"batch", "4"}, {"optimizer", optimizer_}, {"learning_rate", rates.at(optimizer_)}});
  }
  [[nodiscard]] Batch last() const { return batch_of(*problem_, last_of(*problem_)); }
  [[nodiscard]] std::vector<double> before() { return doubles_of(values_of<float>(run_.results, Cnn::weights_before)); }
  [[nodiscard]] Gradient gradient_of(const Batch& batch) { return differentiate(before(), batch); }

  /// Modifies the right results.
  using Spoil = std::function<void(Outputs&)>;
  std::string message(const Spoil& spoil) {
    run_.again();
    spoil(run_.results);
    const Verdict verdict = problem_->check_alone(run_.results);
    EXPECT_EQ(verdict.passed(), verdict.message.empty());
    return verdict.message;
  }
  /// Expects that the check finds the fault at `place`.
  void expect_found(const std::string& place, const Spoil& spoil) {
    const std::string found = message(spoil);
    EXPECT_NE(found.find(place), std::string::npos) << place << ": " << (found.empty() ? "not found" : found);
  }

  const std::string optimizer_;
  std::unique_ptr<Cnn> problem_;
  Solved run_;
};

/// With each optimizer.
class CnnUpdates : public CnnFaults, public ::testing::WithParamInterface<const char*> {
 protected:
  CnnUpdates() : CnnFaults(GetParam()) {}
};

TEST_P(CnnUpdates, WhatIsRightPasses) {
  EXPECT_EQ(message([](Outputs&) {}), "");
  EXPECT_EQ(message([&](Outputs& outputs) { replay(*problem_, outputs); }), "");
  EXPECT_EQ(message([&](Outputs& outputs) { take(*problem_, gradient_of(last()), outputs); }), "");
}

TEST_P(CnnUpdates, TheGradientOfTheStepBefore) {
  const auto one = of_steps("1");
  Solved shorter(reference(), *one);
  expect_found("gradient[", [&](Outputs& outputs) {
    std::ranges::copy(values_of<float>(shorter.results, Cnn::gradient),
                      values_of<float>(outputs, Cnn::gradient).begin());
    replay(*problem_, outputs);
  });
}

TEST_F(CnnFaults, AnImageThatCountsTwice) {
  const auto order = last().order;
  std::vector<std::int32_t> twice(order.begin(), order.end());
  twice[2] = twice[1];
  Batch batch = last();
  batch.order = twice;
  const Gradient gradient = gradient_of(batch);
  expect_found("loss[1]", [&](Outputs& outputs) { take(*problem_, gradient, outputs); });
  expect_found("gradient[", [&](Outputs& outputs) {
    const float loss = values_of<float>(outputs, Cnn::loss).back();
    take(*problem_, gradient, outputs);
    values_of<float>(outputs, Cnn::loss).back() = loss;
  });
}

TEST_F(CnnFaults, AnImageThatIsLeftOut) {
  Batch batch = last();
  batch.order = batch.order.first(3);  // also divided by 3, as the mean of the remaining images
  const Gradient gradient = gradient_of(batch);
  expect_found("loss[1]", [&](Outputs& outputs) { take(*problem_, gradient, outputs); });
}

TEST_F(CnnFaults, ASumThatIsNoMean) {
  expect_found("gradient[", [&](Outputs& outputs) {
    for (float& value : values_of<float>(outputs, Cnn::gradient)) value *= 4;
    replay(*problem_, outputs);
  });
}

TEST_F(CnnFaults, TheMaskOfAnotherStep) {
  Batch batch = last();
  ++batch.step;
  const Gradient gradient = gradient_of(batch);
  expect_found("loss[1]", [&](Outputs& outputs) { take(*problem_, gradient, outputs); });
}

TEST_P(CnnUpdates, AnUpdateThatIsLeftOut) {
  expect_found("weights[", [](Outputs& outputs) {
    std::ranges::copy(values_of<float>(outputs, Cnn::weights_before), values_of<float>(outputs, Cnn::weights).begin());
    std::ranges::copy(values_of<float>(outputs, Cnn::state_before), values_of<float>(outputs, Cnn::state).begin());
  });
}

TEST_P(CnnUpdates, AnUpdateThatIsTakenTwice) {
  expect_found("weights[", [&](Outputs& outputs) {
    const auto weights = values_of<float>(outputs, Cnn::weights),
               before = values_of<float>(outputs, Cnn::weights_before);
    for (std::size_t i = 0; i < parameters; ++i) weights[i] += weights[i] - before[i];
  });
}

TEST_P(CnnUpdates, AFirstStepThatIsLeftOut) {
  expect_found("weights_before", [&](Outputs& outputs) {
    std::ranges::copy(problem_->initial.values<const float>(), values_of<float>(outputs, Cnn::weights_before).begin());
    std::ranges::fill(values_of<float>(outputs, Cnn::state_before), 0.0F);
    const Batch batch = last();
    const std::vector<double> initial = initial_of(*problem_);
    for (std::int64_t i = 0; i < 4; ++i) {
      const Plain image = plain(initial, batch, i);
      std::ranges::copy(image.pool, values_of<std::uint8_t>(outputs, Cnn::pool_decisions).begin() + i * pooled);
      std::ranges::copy(image.hidden, values_of<std::uint8_t>(outputs, Cnn::hidden_decisions).begin() + i * hidden);
    }
    take(*problem_, differentiate(initial, batch), outputs);
  });
}

/// A value in some tensors is off by twice its bound.
TEST_P(CnnUpdates, AWeightIsOff) {
  for (int tensor = 0; tensor < tensors; tensor += 3) {
    const auto middle = static_cast<std::size_t>((tensor_begin[tensor] + tensor_begin[tensor + 1]) / 2);
    expect_found("weights[" + std::to_string(middle) + "]", [&](Outputs& outputs) {
      const double there = values_of<float>(outputs, Cnn::weights_before)[middle];
      float& weight = values_of<float>(outputs, Cnn::weights)[middle];
      // Adam's means may cancel: then the bound is that of the terms, at most a few learning rates.
      const double change = optimizer_ == "adam" ? 0.003 : std::abs(weight - there);
      weight += static_cast<float>(2 * unit * (32 * change + 2 * std::abs(there)) + unit * std::abs(there));
    });
  }
}
TEST_P(CnnUpdates, AStateIsOff) {
  for (int number = 0; number < blocks::states_of(problem_->optimizer); ++number)
    expect_found("state[", [&](Outputs& outputs) {
      float& value = values_of<float>(outputs, Cnn::state)[static_cast<std::size_t>(number * parameters + fc1_biases)];
      value += value == 0 ? 1e-6F : 1e-3F * value;
    });
}
TEST_F(CnnFaults, ADerivativeIsOff) {
  const auto pool = run_.values<std::uint8_t>(Cnn::pool_decisions),
             of_hidden = run_.values<std::uint8_t>(Cnn::hidden_decisions);
  const Decisions decisions{pool, of_hidden};
  const Gradient right = differentiate(before(), last(), &decisions);
  for (int tensor = 0; tensor < tensors; ++tensor) {
    const auto begin = right.values.begin() + tensor_begin[tensor],
               end = right.values.begin() + tensor_begin[tensor + 1];
    const auto i = static_cast<std::size_t>(std::max_element(begin, end) - right.values.begin());
    EXPECT_LT(right.bounds[i], 1e-3 * right.values[i]) << "tensor " << tensor;
    expect_found("gradient[" + std::to_string(i) + "]", [&](Outputs& outputs) {
      values_of<float>(outputs, Cnn::gradient)[i] = static_cast<float>(right.values[i] + 2 * right.bounds[i]);
      replay(*problem_, outputs);
    });
  }
}

/// Also with the matching gradient.
TEST_F(CnnFaults, DecisionsFarFromATie) {
  const Plain image = plain(before(), last(), 3);
  const std::size_t j = image.clearest_hidden(), k = image.clearest_window();
  expect_found("image 3 of the batch: hidden value " + std::to_string(j),
               [&](Outputs& outputs) { values_of<std::uint8_t>(outputs, Cnn::hidden_decisions)[3 * hidden + j] ^= 1; });
  for (const int bits : {1, 4})
    expect_found("image 3 of the batch: channel " + std::to_string(k / windows), [&](Outputs& outputs) {
      std::uint8_t& decision = values_of<std::uint8_t>(outputs, Cnn::pool_decisions)[3 * pooled + k];
      decision = static_cast<std::uint8_t>(decision ^ bits);
    });
  expect_found("pool_decisions[5] was written by 0 processes",
               [](Outputs& outputs) { values_of<std::uint8_t>(outputs, Cnn::pool_decisions)[5] = 0xff; });
}

TEST_F(CnnFaults, WhatIsNotFinite) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  expect_found("loss[0]", [&](Outputs& outputs) { values_of<float>(outputs, Cnn::loss)[0] = nan; });
  expect_found("weights_before: conv2.bias[3]",
               [&](Outputs& outputs) { values_of<float>(outputs, Cnn::weights_before)[conv2_biases + 3] = inf; });
  expect_found("gradient[", [&](Outputs& outputs) {
    values_of<float>(outputs, Cnn::gradient)[fc1_weights + 9] = nan;
    replay(*problem_, outputs);
  });
  expect_found("fc2.weight[7]",
               [&](Outputs& outputs) { values_of<float>(outputs, Cnn::weights)[fc2_weights + 7] = nan; });
}

INSTANTIATE_TEST_SUITE_P(All, CnnUpdates, ::testing::Values("adadelta", "sgd", "adam"),
                         [](const auto& instance) { return std::string(instance.param); });

/// Results of a problem that differs in one respect.
TEST(CnnOther, TrainingsAreFound) {
  const Values values{{"steps", "2"}, {"batch", "4"}};
  const auto right = make(generated(8), values);
  using Change = void (*)(Cnn&);
  const std::map<std::string, Change> changes{
      {"other masks", [](Cnn& problem) { problem.dropout.seed = 2; }},
      {"no masks", [](Cnn& problem) { problem.dropout.on = false; }},
      {"other order", [](Cnn& problem) { std::ranges::reverse(problem.order.values<std::int32_t>()); }},
      {"an image twice",
       [](Cnn& problem) { problem.order.values<std::int32_t>()[7] = problem.order.values<std::int32_t>()[4]; }},
      {"another label",
       [](Cnn& problem) {
         const auto image = static_cast<std::size_t>(problem.order_of(1)[0]);
         std::int32_t& label = problem.data.train_labels.values<std::int32_t>()[image];
         label = 9 - label;
       }},
      {"another rate", [](Cnn& problem) { problem.rates.values<float>()[0] = 1.001F; }},
      {"another start", [](Cnn& problem) { problem.initial.values<float>()[conv1_weights + 4] += 0.1F; }}};
  for (const auto& [what, change] : changes) {
    const auto other = make(generated(8), values);
    change(*other);
    const Solved run(reference(), *other);
    EXPECT_FALSE(right->check_alone(run.results).passed()) << what;
  }
}

TEST(CnnOther, ClassesAndCountsAreFound) {
  const auto problem = make(generated(4, 6), {{"epochs", "2"}, {"batch", "4"}, {"dropout", "off"}});
  Solved run(reference(), *problem);
  const Verdict right = problem->check_alone(run.results);
  EXPECT_TRUE(right.passed()) << right.message;
  EXPECT_EQ(right.figures.back().name, "accuracy");
  EXPECT_EQ(right.figures.back().denominator, 6);
  EXPECT_EQ(right.figures.back().numerator, run.values<std::int64_t>(Cnn::correct).at(1));
  ASSERT_EQ(right.curves.size(), 1U);
  EXPECT_EQ(right.curves[0].values().back(), right.figures.back().value());
  EXPECT_EQ(right.curves[0].numerators[0], run.values<std::int64_t>(Cnn::correct).at(0));
  values_of<std::int64_t>(run.results, Cnn::correct)[1] += 1;
  EXPECT_NE(problem->check_alone(run.results).message.find("of the predictions are right"), std::string::npos);
  run.again();
  values_of<std::int64_t>(run.results, Cnn::correct)[0] = 7;
  EXPECT_NE(problem->check_alone(run.results).message.find("correct: 7 of 6 test images"), std::string::npos);
  run.again();
  // From one wrong class to another, so that the count stays; or to none.
  const auto labels = problem->data.test_labels.values<const std::int32_t>();
  const auto found = values_of<std::int32_t>(run.results, Cnn::predictions);
  std::size_t image = 0;
  while (image < 5 && found[image] == labels[image]) ++image;
  std::int32_t other = (found[image] + 1) % classes;
  if (other == labels[image]) other = (other + 1) % classes;
  const std::string place = "predictions[" + std::to_string(image) + "] ";
  for (const auto& [wrong, text] : {std::pair{-1, std::string("was written by 0 processes")},
                                    {10, std::string("is 10")},
                                    {other, "is " + std::to_string(other)}}) {
    run.again();
    found[image] = wrong;
    const std::string message = problem->check_alone(run.results).message;
    EXPECT_NE(message.find(place + text), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace league::cnn::tests
