// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/algorithms/cnn.hpp"

// The bounds of products with rounded factors, on the variants on matrix units.
namespace league::cnn::tests {
namespace {

/// The form of a method's outputs.
std::string form_of(const Network& network, const std::string& method) {
  const std::string type = method.substr(method.size() - 4);
  if (network.name != mnist.name) return type + " convolutions";
  return method.starts_with("tensor_dense_") ? type + " backward" : type;
}

/// Two steps on 4 images each.
class CnnTensor : public ::testing::TestWithParam<const Network*> {
 protected:
  [[nodiscard]] static std::unique_ptr<Cnn> problem_of(const Dataset& data, Values values) {
    values["network"] = network().name;
    if (network().name != mnist.name) values.insert({{"optimizer", "adam"}, {"learning_rate", "0.001"}});
    return make(data, values);
  }
  [[nodiscard]] static const Network& network() { return *GetParam(); }
  [[nodiscard]] static Dataset images(std::int64_t count) { return generated(count, 1, network().pixels()); }
  /// The variants that round factors of this network.
  [[nodiscard]] static std::vector<const Variant*> rounding() {
    return league::tests::variants<Cnn>([](const Variant& one) {
      return one.method.starts_with("tensor_") &&
             (network().name == mnist.name || !one.method.starts_with("tensor_dense_"));
    });
  }
  [[nodiscard]] std::string message(Outputs& outputs, const std::string& form) const {
    outputs[Cnn::gradient].form = form;
    return problem_->check_alone(outputs).message;
  }
  std::unique_ptr<Cnn> problem_ = problem_of(images(8), {{"steps", "2"}, {"batch", "4"}});
};
INSTANTIATE_TEST_SUITE_P(Networks, CnnTensor, ::testing::Values(&mnist, &cifar10),
                         [](const auto& with) { return std::string(with.param->name); });

TEST_P(CnnTensor, FactorsAreRoundedToTheTypeOfTheMethod) {
  for (const Variant* variant : rounding()) {
    SCOPED_TRACE(name_of(*variant));
    Solved run(*variant, *problem_);
    const std::string form = run.results[Cnn::gradient].form;
    EXPECT_EQ(form, form_of(network(), variant->method));
    const bool is_tf32 = form.starts_with(Cnn::tf32);
    EXPECT_EQ(message(run.results, form), "");
    EXPECT_NE(message(run.results, ""), "") << "not in f32";
    EXPECT_EQ(message(run.results, Cnn::bf16_convolutions), "");
    EXPECT_EQ(message(run.results, Cnn::tf32_convolutions).empty(), is_tf32);
  }
  Solved exact(reference(), *problem_);
  EXPECT_EQ(message(exact.results, Cnn::tf32), "");
}

/// Bounds are those of a few factors: a derivative of each tensor off by twice its bound is found.
TEST_P(CnnTensor, ADerivativeIsOff) {
  for (const Variant* variant : rounding()) {
    SCOPED_TRACE(name_of(*variant));
    Solved run(*variant, *problem_);
    const std::string form = run.results[Cnn::gradient].form;
    const auto pool = run.values<std::uint8_t>(Cnn::pool_decisions),
               of_hidden = run.values<std::uint8_t>(Cnn::hidden_decisions);
    Batch last = batch_of(*problem_, 1);
    last.arithmetic = Arithmetic::of(form);
    const Decisions decisions{pool, of_hidden};
    const Gradient right =
        differentiate(doubles_of(values_of<float>(run.results, Cnn::weights_before)), last, &decisions);
    ASSERT_EQ(right.message, "");
    const auto gradient = values_of<float>(run.results, Cnn::gradient);
    for (int tensor = 0; tensor < network().tensors(); ++tensor) {
      const auto begin = right.values.begin() + network().tensor_begin(tensor),
                 end = right.values.begin() + network().tensor_begin(tensor + 1);
      const auto i = static_cast<std::size_t>(std::max_element(begin, end) - right.values.begin());
      EXPECT_LT(right.bounds[i], 30 * last.arithmetic.roundoff * right.values[i]) << "tensor " << tensor;
      const float there = gradient[i];
      gradient[i] = static_cast<float>(right.values[i] + 2 * right.bounds[i]);
      EXPECT_TRUE(message(run.results, form).starts_with("gradient[" + std::to_string(i) + "]"))
          << message(run.results, form);
      gradient[i] = there;
    }
  }
}

/// Their factors are rounded alike, in all images and positions: the errors add up.
TEST_P(CnnTensor, EqualImagesPass) {
  Dataset data = images_like(64, 1, network().pixels());
  std::ranges::fill(data.train.values<std::uint8_t>(), std::uint8_t{40});
  for (std::int64_t i = 0; i < 64; ++i) {
    data.train_labels.values<std::int32_t>()[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 3);
    for (std::int64_t at = 300; at < 330; ++at)
      data.train.values<std::uint8_t>()[static_cast<std::size_t>(i * network().pixels() + at)] =
          static_cast<std::uint8_t>(i % 2);
  }
  const auto problem = problem_of(data, {{"steps", "2"}, {"batch", "64"}});
  for (const Variant* variant : rounding()) {
    SCOPED_TRACE(name_of(*variant));
    const Solved run(*variant, *problem);
    const Verdict verdict = problem->check_alone(run.results);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
  }
}

/// The steps before the last may drift from those in double, but not by more than their rounding explains.
TEST_P(CnnTensor, TheFirstStepsLieNearThoseInDouble) {
  for (const Variant* variant : rounding()) {
    SCOPED_TRACE(name_of(*variant));
    const auto problem = problem_of(images(8), {{"steps", "3"}, {"batch", "4"}});
    Solved run(*variant, *problem);
    std::vector<double> weights = initial_of(*problem), first(weights.size()), second(weights.size());
    for (int step = 0; step < 2; ++step) {
      const Gradient gradient = differentiate(weights, batch_of(*problem, step));
      const auto size = blocks::step_size<double>(problem->optimizer, problem->rate_of(step), step + 1);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto to = blocks::advanced<double>(problem->optimizer, {weights[i], first[i], second[i]},
                                                 gradient.values[i], size, network().adam_epsilon);
        weights[i] = to.value, first[i] = to.first, second[i] = to.second;
      }
    }
    double apart = 0, moved = 0;
    const auto before = values_of<float>(run.results, Cnn::weights_before);
    const auto initial = problem->initial.values<const float>();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      apart += std::pow(before[i] - weights[i], 2);
      moved += std::pow(weights[i] - initial[i], 2);
    }
    const double drift = Arithmetic::of(run.results[Cnn::gradient].form).drift_of(problem->optimizer);
    EXPECT_LT(std::sqrt(apart / moved), 0.6 * drift);
  }
}

}  // namespace
}  // namespace league::cnn::tests
