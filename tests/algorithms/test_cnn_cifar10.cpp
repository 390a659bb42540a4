// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/data/dataset.hpp"
#include "bench/errors.hpp"
#include "tests/algorithms/cnn.hpp"

// The network cifar10: its oracle against plain loops and finite differences, all variants against the oracle.
namespace league::cnn::tests {
namespace {

Values with(Values values) {
  values.insert({{"network", "cifar10"}, {"optimizer", "adam"}, {"learning_rate", "0.001"}});
  return values;
}
Dataset colours(std::int64_t train, std::int64_t test = 1) { return generated(train, test, cifar10.pixels()); }

using Plane = std::vector<double>;

/// 3x3 convolution and ReLU, then the maximum of each whole 2 x 2 window if `pools`.
std::vector<Plane> layer(const double*& w, const std::vector<Plane>& inputs, int from, int outputs, bool pools) {
  const int side = from - 2, to = pools ? side / 2 : side, step = pools ? 2 : 1;
  const double* biases = w + outputs * static_cast<int>(inputs.size()) * 9;
  std::vector<Plane> found(static_cast<std::size_t>(outputs), Plane(static_cast<std::size_t>(to * to), 0));
  for (std::size_t o = 0; o < found.size(); ++o)
    for (int y = 0; y < to * step; ++y)
      for (int x = 0; x < to * step; ++x) {
        double sum = biases[o];
        for (std::size_t c = 0; c < inputs.size(); ++c)
          for (int t = 0; t < 9; ++t)
            sum += w[(o * inputs.size() + c) * 9 + static_cast<std::size_t>(t)] *
                   inputs[c][static_cast<std::size_t>((y + t / 3) * from + x + t % 3)];
        double& value = found[o][static_cast<std::size_t>(y / step * to + x / step)];
        value = std::max(value, sum);
      }
  w = biases + outputs;
  return found;
}
Plane dense(const double*& w, const Plane& inputs, std::size_t outputs) {
  Plane sums(w + outputs * inputs.size(), w + outputs * (inputs.size() + 1));
  for (std::size_t j = 0; j < outputs; ++j)
    for (std::size_t k = 0; k < inputs.size(); ++k) sums[j] += w[j * inputs.size() + k] * inputs[k];
  w += outputs * (inputs.size() + 1);
  return sums;
}
/// The loss of one image.
double loss_of(const double* w, std::span<const std::uint8_t> image, int label) {
  std::vector<Plane> planes(3, Plane(32 * 32));
  for (std::size_t i = 0; i < image.size(); ++i) planes[i / 1024][i % 1024] = static_cast<float>(image[i]) / 255.0F;
  planes = layer(w, planes, 32, 32, true);
  planes = layer(w, planes, 15, 64, true);
  planes = layer(w, planes, 6, 64, false);
  Plane flat;
  for (const Plane& plane : planes) flat.insert(flat.end(), plane.begin(), plane.end());
  Plane hidden_values = dense(w, flat, 64);
  for (double& value : hidden_values) value = std::max(value, 0.0);
  const Plane logits = dense(w, hidden_values, 10);
  double all = 0;
  for (const double logit : logits) all += std::exp(logit);
  return std::log(all) - logits[static_cast<std::size_t>(label)];
}

TEST(CnnCifar10, IsTheNetworkInPlainLoops) {
  const auto problem = make(colours(2), with({{"steps", "1"}}));
  EXPECT_EQ(problem->initial.size(), 122'570);
  // Positions of windows forwards and one of a window backwards, twice but in the first layer.
  const double first = 3 * 9 * 32 * 225 * (4 + 1), second = 32 * 9 * 64 * 36 * (4 + 2), third = 64 * 9 * 64 * 16 * 3,
               dense = 3 * (1024 * 64 + 64 * 10);
  EXPECT_EQ(problem->cost().operations, 2 * 2 * (first + second + third + dense));
  EXPECT_EQ(problem->method_operations("tensor_dense_bf16"), 2 * 2 * 12'868'224.0) << "every position";
  const Batch batch = batch_of(*problem, 0);
  const std::vector<double> weights = initial_of(*problem);
  double loss = 0;
  for (const std::int32_t i : batch.order)
    loss += loss_of(weights.data(), problem->data.train.values<const std::uint8_t>(i, i + 1),
                    batch.labels[static_cast<std::size_t>(i)]) /
            2;
  EXPECT_NEAR(evaluate(weights, batch).loss, loss, 1e-13);
}

/// Of all tensors: the largest derivative and another.
TEST(CnnCifar10, TheDerivativesAreThoseOfTheLoss) {
  const auto problem = make(colours(2), with({{"steps", "1"}}));
  const Batch batch = batch_of(*problem, 0);
  std::vector<double> weights = initial_of(*problem);
  const Gradient gradient = differentiate(weights, batch);
  for (int tensor = 0; tensor < cifar10.tensors(); ++tensor) {
    const auto begin = gradient.values.begin() + cifar10.tensor_begin(tensor),
               end = gradient.values.begin() + cifar10.tensor_begin(tensor + 1);
    const auto largest = std::ranges::max_element(begin, end, {}, [](double value) { return std::abs(value); });
    EXPECT_GT(std::abs(*largest), 1e-4) << "tensor " << tensor;
    for (const auto chosen : {largest, begin + (end - begin) / 3})
      expect_derivative(gradient, weights, batch, static_cast<std::size_t>(chosen - gradient.values.begin()), tensor);
  }
}

/// Glorot, Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010.
TEST(CnnCifar10, InitialParametersAreGlorots) {
  const auto problem = make(colours(1), with({{"steps", "1"}}));
  const int inputs[] = {27, 288, 576, 1024, 64}, outputs[] = {288, 576, 576, 64, 10};
  for (int tensor = 0; tensor < 10; ++tensor) {
    const double bound = tensor % 2 == 1 ? 0 : std::sqrt(6.0 / (inputs[tensor / 2] + outputs[tensor / 2]));
    double squares = 0;
    const int begin = cifar10.tensor_begin(tensor), end = cifar10.tensor_begin(tensor + 1);
    for (const float value : problem->initial.values<const float>().subspan(static_cast<std::size_t>(begin),
                                                                            static_cast<std::size_t>(end - begin))) {
      EXPECT_LE(std::abs(value), bound * (1 + 0x1p-20));
      squares += std::pow(value, 2);
    }
    EXPECT_NEAR(squares / (end - begin), bound * bound / 3, 0.9 * bound * bound / std::sqrt(end - begin));
  }
}

/// By every variant that has it, on one to three devices.
void everywhere(const Cnn& problem) {
  league::tests::everywhere<Solved>(league::tests::variants<Cnn>(), problem, [](const Solved&) {});
}
TEST(CnnCifar10, StepsOnOneImage) {
  everywhere(*make(colours(3), with({{"steps", "2"}, {"batch", "1"}, {"optimizer", "adadelta"}})));
}
TEST(CnnCifar10, AnEpochWithASmallerLastBatchAndATest) { everywhere(*make(colours(9, 5), with({{"batch", "7"}}))); }
TEST(CnnCifar10, BatchesThatDoNotFillTheTeamsOfMatrixUnits) {
  const auto on_units = [](const Variant& variant) { return variant.method.starts_with("tensor_"); };
  const auto problem = make(colours(34), with({{"batch", "33"}}));
  league::tests::everywhere<Solved>(league::tests::variants<Cnn>(on_units), *problem, [](const Solved&) {});
}
TEST(CnnCifar10, Inference) { everywhere(*make(colours(3, 7), with({{"task", "inference"}, {"warm_up", "1"}}))); }

TEST(CnnCifar10, ItsVariants) {
  const auto problem = make(colours(1), with({{"steps", "1"}}));
  std::string ran;
  for (const Variant* variant : league::tests::variants<Cnn>()) try {
      const Solved run(*variant, *problem);
      ran += name_of(*variant) + "; ";
    } catch (const Unsupported& refused) {
      EXPECT_STREQ(
          refused.what(),
          variant->method.starts_with("tensor_dense_")
              ? "network cifar10: its backward pass is not routed, so that tensor_tf32 and tensor_bf16 are this"
              : "network cifar10: not by this method in this model");
    }
  for (const char* one : {"direct serial; ", "direct openmp; ", "direct kokkos_specialised; ",
                          "tensor_tf32 kokkos_specialised; ", "tensor_bf16 kokkos_specialised; "})
    EXPECT_NE(ran.find(one), std::string::npos) << one << "of " << ran;
  for (const auto& [method, library] : {std::pair("gemm", "kokkos_kernels"), std::pair("layers", "onednn")})
    if (registry().variant(Cnn::algorithm, method, library) != nullptr) {
      EXPECT_NE(ran.find(std::string(method) + " " + library + "; "), std::string::npos) << ran;
    }
}

class CnnCifar10Faults : public ::testing::Test {
 protected:
  CnnCifar10Faults()
      : problem_(make(colours(4), with({{"steps", "2"}, {"batch", "2"}}))), run_(reference(), *problem_) {}
  [[nodiscard]] std::string message() const { return problem_->check_alone(run_.results).message; }
  std::unique_ptr<Cnn> problem_;
  Solved run_;
};

TEST_F(CnnCifar10Faults, AWrongDecisionOfEachConvolutionIsNamed) {
  EXPECT_EQ(message(), "");
  const auto decisions = values_of<std::uint8_t>(run_.results, Cnn::pool_decisions);
  for (int n = 0; n < 3; ++n) {
    const auto at = static_cast<std::size_t>(cifar10.decisions() + cifar10.convolutions[n].decisions + 5);
    const std::uint8_t right = decisions[at];
    for (const int flipped : {1, 4, 8}) {
      decisions[at] = static_cast<std::uint8_t>(right ^ flipped);
      const std::string where = n == 2 ? "channel 0, window 1, 1: decision "
                                       : "convolution " + std::to_string(n + 1) + ", channel 0, window 0, 5: decision ";
      EXPECT_EQ(message(), "image 1 of the batch: " + where + std::to_string(int{decisions[at]}) + ", expected " +
                               std::to_string(int{right}));
    }
    decisions[at] = right;
  }
}

TEST_F(CnnCifar10Faults, AnotherEpsilonIsFound) {
  const auto before = values_of<float>(run_.results, Cnn::weights_before),
             gradient = values_of<float>(run_.results, Cnn::gradient),
             state = values_of<float>(run_.results, Cnn::state_before),
             after = values_of<float>(run_.results, Cnn::weights);
  const auto size = blocks::step_size<float>(blocks::Optimizer::adam, 0.001F, 2);
  const auto replay = [&](float epsilon) {
    for (std::size_t i = 0; i < after.size(); ++i)
      after[i] = blocks::advanced<float>(blocks::Optimizer::adam, {before[i], state[i], state[after.size() + i]},
                                         gradient[i], size, epsilon)
                     .value;
  };
  replay(1e-7F);
  EXPECT_EQ(message(), "");
  replay(1e-8F);
  EXPECT_NE(message().find("weights["), std::string::npos) << message();
}

TEST_F(CnnCifar10Faults, DecaysInF32AreAForm) {
  run_.results[Cnn::weights].form = Cnn::f32_decays;
  EXPECT_NE(message().find("weights["), std::string::npos) << message();  // the decays were not rounded
  const auto before = values_of<float>(run_.results, Cnn::weights_before),
             gradient = values_of<float>(run_.results, Cnn::gradient),
             state_before = values_of<float>(run_.results, Cnn::state_before),
             after = values_of<float>(run_.results, Cnn::weights), state = values_of<float>(run_.results, Cnn::state);
  const auto size = blocks::step_size<double>(blocks::Optimizer::adam, 0.001, 2, blocks::f32_decays);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto weight =
        blocks::advanced<double>(blocks::Optimizer::adam, {before[i], state_before[i], state_before[after.size() + i]},
                                 gradient[i], size, 1e-7, blocks::f32_decays);
    after[i] = static_cast<float>(weight.value);
    state[i] = static_cast<float>(weight.first), state[after.size() + i] = static_cast<float>(weight.second);
  }
  EXPECT_EQ(message(), "");
  run_.results[Cnn::weights].form = "";
  EXPECT_NE(message().find("weights["), std::string::npos) << message();
}

TEST(CnnCifar10, OtherImagesAreRefused) {
  try {
    make(generated(3), with({}));
    ADD_FAILURE() << "accepted images of 784 pixels";
  } catch (const std::invalid_argument& refused) {
    EXPECT_STREQ(refused.what(),
                 "train: the network takes 3 planes of 32 x 32 u8 images, that is 3072 features; these are 784 of u8");
  }
}

/// Real images: the loss falls, and the step after 40 others is right.
TEST(CnnCifar10, TrainsOnMnistInColour) {
  bench::Datasets datasets({}, league::tests::runtime().host_memory());
  try {
    const bench::Selection selection =
        datasets.resolve({.dataset = "mnist_rgb", .split = "predefined", .train = 640, .test = 64});
    const auto problem = make(datasets.rows(selection), with({{"epochs", "2"}, {"batch", "32"}, {"gamma", "1"}}));
    const Solved run(*registry().variant(Cnn::algorithm, "direct", "openmp"), *problem);
    const Verdict verdict = problem->check_alone(run.results);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
    const auto losses = run.values<float>(Cnn::loss);
    EXPECT_LT(losses.back(), 0.5F * losses.front());
    EXPECT_GT(run.values<std::int64_t>(Cnn::correct).back(), 40);
  } catch (const bench::BadInput& missing) {
    GTEST_SKIP() << missing.what();
  }
}

}  // namespace
}  // namespace league::cnn::tests
