// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <numeric>

#include "bench/data/idx.hpp"
#include "bench/data/source.hpp"
#include "bench/errors.hpp"
#include "tests/algorithms/cnn.hpp"

namespace league::cnn::tests {
namespace {

/// The first training images of MNIST, and a test image. @throws bench::BadInput if the files are missing
Dataset first_of_mnist(std::int64_t images) {
  const std::string name = "mnist";
  const bench::Source& source = bench::source_of(name);
  const bench::Idx greys = bench::read_idx(bench::find_file(source, {}, "train-images-idx3-ubyte"), 3),
                   labels = bench::read_idx(bench::find_file(source, {}, "train-labels-idx1-ubyte"), 1);
  Dataset data = images_like(images, 1);
  std::copy_n(greys.values.begin(), images * pixels, data.train.values<std::uint8_t>().begin());
  std::copy_n(labels.values.begin(), images, data.train_labels.values<std::int32_t>().begin());
  return data;
}

/// Of steps 1, 2, 5 and 10 on 64 images each, in the order of the file, without dropout; from PyTorch in double.
struct Golden {
  std::string optimizer, learning_rate;
  std::array<double, 4> losses;
};
const std::array<int, 4> golden_steps{1, 2, 5, 10};
const std::array<Golden, 3> golden{Golden{"adadelta", "1", {2.298896504, 2.058039420, 1.967759959, 1.388994915}},
                                   Golden{"sgd", "0.1", {2.298896504, 2.223932636, 2.094705103, 1.932971923}},
                                   Golden{"adam", "0.001", {2.298896504, 2.171050606, 1.524865798, 0.984432399}}};

std::unique_ptr<Cnn> golden_problem(const Dataset& data, const Golden& one, int steps) {
  return make(data, {{"steps", std::to_string(steps)},
                     {"optimizer", one.optimizer},
                     {"learning_rate", one.learning_rate},
                     {"dropout", "off"},
                     {"shuffle", "off"}});
}

class MnistGolden : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      data_ = first_of_mnist(640);
    } catch (const bench::BadInput&) {
      GTEST_SKIP() << "needs the files of MNIST in the folder LEAGUE_DATA or in data/mnist";
    }
  }
  /// Compares the oracle's losses, trained in double, with the known ones.
  void expect_losses(const Golden& one, int steps) {
    SCOPED_TRACE(one.optimizer);
    const auto problem = golden_problem(data_, one, steps);
    std::vector<double> weights = initial_of(*problem), first(parameters), second(parameters);
    for (std::int64_t step = 0; step < steps; ++step) {
      const Gradient gradient = differentiate(weights, batch_of(*problem, step));
      const auto known = std::ranges::find(golden_steps, step + 1);
      if (known != golden_steps.end()) {
        const double loss = one.losses.at(static_cast<std::size_t>(known - golden_steps.begin()));
        EXPECT_NEAR(gradient.loss, loss, 1e-9) << "step " << step + 1;
      }
      const double rate = std::stod(one.learning_rate);
      const auto size = blocks::step_size<double>(problem->optimizer, rate, step + 1);
      for (std::size_t i = 0; i < parameters; ++i) {
        const auto to =
            blocks::advanced<double>(problem->optimizer, {weights[i], first[i], second[i]}, gradient.values[i], size);
        weights[i] = to.value, first[i] = to.first, second[i] = to.second;
      }
    }
  }
  Dataset data_;
};

TEST_F(MnistGolden, LossesWithAdadelta) { expect_losses(golden[0], 10); }
TEST_F(MnistGolden, LossesWithSgd) { expect_losses(golden[1], 5); }
TEST_F(MnistGolden, LossesWithAdam) { expect_losses(golden[2], 5); }

TEST_F(MnistGolden, NormsOfTheFirstGradient) {
  const double norms[tensors] = {.0348764, .0069219, .2165668, .0167326, 1.2760413, .0448393, .1263124, .0852912};
  const auto problem = golden_problem(data_, golden[0], 1);
  const Gradient gradient = differentiate(initial_of(*problem), batch_of(*problem, 0));
  for (int tensor = 0; tensor < tensors; ++tensor) {
    double squares = 0;
    for (int i = tensor_begin[tensor]; i < tensor_begin[tensor + 1]; ++i)
      squares += std::pow(gradient.values[static_cast<std::size_t>(i)], 2);
    EXPECT_NEAR(std::sqrt(squares), norms[tensor], 6e-8) << "tensor " << tensor;
  }
}

TEST_F(MnistGolden, LossesOfAllVariants) {
  for (const Golden& one : golden) {
    const auto problem = golden_problem(data_, one, 2);
    for (const Variant* variant : league::tests::variants<Cnn>()) {
      SCOPED_TRACE(name_of(*variant) + " " + one.optimizer);
      const Solved run(*variant, *problem);
      const auto losses = run.values<float>(Cnn::loss);
      const double roundoff = Arithmetic::of(run.results[Cnn::gradient].form).roundoff;  // 0 for f32
      EXPECT_NEAR(losses.at(0), one.losses[0], 2e-6 + roundoff);
      EXPECT_NEAR(losses.at(1), one.losses[1], 2e-5 + 10 * roundoff);
    }
  }
}

class CnnOracle : public ::testing::TestWithParam<const char*> {};

/// Of all tensors: the largest derivative and some others.
TEST_P(CnnOracle, TheDerivativesAreThoseOfTheLoss) {
  const auto problem = make(generated(3), {{"steps", "1"}, {"dropout", GetParam()}});
  const Batch batch = batch_of(*problem, 0);
  std::vector<double> weights = initial_of(*problem);
  const Gradient gradient = differentiate(weights, batch);
  EXPECT_NEAR(evaluate(weights, batch).loss, gradient.loss, 1e-14);
  for (int tensor = 0; tensor < tensors; ++tensor) {
    const int begin = tensor_begin[tensor], end = tensor_begin[tensor + 1];
    const auto size = [](double value) { return std::abs(value); };
    const auto largest =
        std::ranges::max_element(gradient.values.begin() + begin, gradient.values.begin() + end, {}, size);
    std::vector<std::size_t> chosen{static_cast<std::size_t>(largest - gradient.values.begin())};
    for (std::uint64_t i = 0; i < 2; ++i)
      chosen.push_back(static_cast<std::size_t>(begin) +
                       random_below(static_cast<std::uint64_t>(end - begin), 3, static_cast<std::uint64_t>(tensor), i));
    EXPECT_GT(std::abs(*largest), 1e-4) << "tensor " << tensor;
    for (const std::size_t i : chosen) expect_derivative(gradient, weights, batch, i, tensor);
  }
}

TEST_P(CnnOracle, IsTheNetworkInPlainLoops) {
  const auto problem = make(generated(3), {{"steps", "1"}, {"dropout", GetParam()}});
  const Batch batch = batch_of(*problem, 0);
  const std::vector<double> weights = initial_of(*problem);
  double loss = 0;
  for (std::int64_t i = 0; i < 3; ++i) loss += plain(weights, batch, i).loss / 3;
  EXPECT_NEAR(evaluate(weights, batch).loss, loss, 1e-13);
}

TEST_P(CnnOracle, ItsOwnDecisionsChangeNothing) {
  const auto problem = make(generated(1), {{"steps", "1"}, {"dropout", GetParam()}});
  const Batch batch = batch_of(*problem, 0);
  const std::vector<double> weights = initial_of(*problem);
  const Plain own = plain(weights, batch, 0);
  const Decisions decisions{own.pool, own.hidden};
  const Gradient alone = differentiate(weights, batch), followed = differentiate(weights, batch, &decisions);
  EXPECT_EQ(followed.message, "");
  EXPECT_EQ(followed.ties, 0);
  EXPECT_EQ(followed.loss, alone.loss);
  EXPECT_EQ(followed.live, alone.live);
  EXPECT_EQ(followed.values, alone.values);
}

INSTANTIATE_TEST_SUITE_P(Dropout, CnnOracle, ::testing::Values("on", "off"),
                         [](const auto& instance) { return std::string(instance.param); });

/// The message of the check of modified decisions on three images.
class CnnDecisions : public ::testing::Test {
 protected:
  CnnDecisions() : problem_(make(generated(3), {{"steps", "1"}})), weights_(initial_of(*problem_)) {
    for (std::int64_t i = 0; i < 3; ++i) {
      images_.push_back(plain(weights_, batch_of(*problem_, 0), i));
      pool_.insert(pool_.end(), images_.back().pool.begin(), images_.back().pool.end());
      hidden_.insert(hidden_.end(), images_.back().hidden.begin(), images_.back().hidden.end());
    }
  }
  [[nodiscard]] std::string message() const {
    const Decisions decisions{pool_, hidden_};
    return differentiate(weights_, batch_of(*problem_, 0), &decisions).message;
  }
  std::unique_ptr<Cnn> problem_;
  std::vector<double> weights_;
  std::vector<Plain> images_;
  std::vector<std::uint8_t> pool_, hidden_;
};

TEST_F(CnnDecisions, RightOnesPass) { EXPECT_EQ(message(), ""); }

TEST_F(CnnDecisions, AWrongPlaceOrSignIsNamed) {
  const std::size_t k = images_[1].clearest_window();
  std::uint8_t& decision = pool_[pooled + k];
  const std::uint8_t right = decision;
  const std::string where = "image 1 of the batch: channel " + std::to_string(k / windows) + ", window " +
                            std::to_string(k % windows / pooled_side) + ", " + std::to_string(k % pooled_side) +
                            ": decision ";
  for (const int flipped : {1, 2, 4, 7}) {
    decision = static_cast<std::uint8_t>(right ^ flipped);
    EXPECT_EQ(message(), where + std::to_string(int{decision}) + ", expected " + std::to_string(int{right}));
  }
}

TEST_F(CnnDecisions, AWrongHiddenValueIsNamed) {
  const std::size_t j = images_[2].clearest_hidden();
  std::uint8_t& decision = hidden_[2 * hidden + j];
  const int right = decision;
  for (const int wrong : {1 - right, 2 + right}) {
    decision = static_cast<std::uint8_t>(wrong);
    EXPECT_EQ(message(), "image 2 of the batch: hidden value " + std::to_string(j) + ": decision " +
                             std::to_string(wrong) + ", expected " + std::to_string(right));
  }
}

TEST_F(CnnDecisions, BytesThatAreNoneAreNamed) {
  for (const int bits : {8, 64, 128}) {  // with the right place and sign
    pool_.front() = static_cast<std::uint8_t>(images_[0].pool.front() + bits);
    EXPECT_NE(message().find("decision " + std::to_string(int{pool_.front()}) + ", expected "), std::string::npos);
  }
}

TEST_F(CnnDecisions, TheFirstImageThatIsWrongIsNamed) {
  for (const std::size_t image : {2U, 1U}) pool_[image * pooled + images_[image].clearest_window()] ^= 1;
  EXPECT_NE(message().find("image 1 of the batch"), std::string::npos) << message();
}

/// All values of a window are equal where the image is constant: any position is accepted, and the gradient does not
/// depend on it.
TEST(CnnTies, AnyOfEqualsMayBeChosen) {
  Dataset data = images_like(1, 1);
  std::ranges::fill(data.train.values<std::uint8_t>(), std::uint8_t{200});
  const auto problem = make(data, {{"steps", "1"}, {"dropout", "off"}});
  const Batch batch = batch_of(*problem, 0);
  const std::vector<double> weights = initial_of(*problem);
  Plain own = plain(weights, batch, 0);
  const Gradient alone = differentiate(weights, batch);
  std::int64_t live = 0;
  for (std::uint8_t& decision : own.pool) {
    live += Decision::live(decision) ? 1 : 0;
    decision = Decision::of(3, Decision::live(decision));
  }
  const Decisions decisions{own.pool, own.hidden};
  const Gradient other = differentiate(weights, batch, &decisions);
  EXPECT_EQ(other.message, "");
  EXPECT_EQ(other.live, live);
  EXPECT_GT(other.ties, live / 2);
  for (std::size_t i = 0; i < parameters; ++i) ASSERT_NEAR(other.values[i], alone.values[i], 1e-13) << i;
}

TEST(CnnClasses, AreThoseOfTheLoss) {
  const auto problem = make(generated(4), {{"steps", "1"}, {"batch", "1"}, {"dropout", "off"}});
  const std::vector<double> weights = initial_of(*problem);
  for (std::int32_t image = 0; image < 4; ++image) {
    Batch batch = batch_of(*problem, 0);
    batch.order = std::span(&image, 1);
    const Logits logits = classify(weights, problem->data.train.values<const std::uint8_t>(image, image + 1));
    double sum = 0;
    for (const double logit : logits.values) sum += std::exp(logit);
    const double label = logits.values[batch.labels[static_cast<std::size_t>(image)]];
    EXPECT_NEAR(std::log(sum) - label, evaluate(weights, batch).loss, 1e-13);
    for (const double bound : logits.bounds) EXPECT_TRUE(bound > 0 && bound < 1e-3) << bound;
  }
}

}  // namespace
}  // namespace league::cnn::tests
