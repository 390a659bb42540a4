// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <numeric>
#include <set>

#include "backends/model.hpp"
#include "tests/algorithms/cnn.hpp"

namespace league::cnn::tests {
namespace {

// Inputs of training: order, batches, rates, dropout.

std::vector<std::int32_t> order_of_epoch(const Cnn& problem, std::int64_t epoch) {
  std::vector<std::int32_t> images;
  for (std::int64_t step = epoch * problem.batches(); step < (epoch + 1) * problem.batches(); ++step) {
    const auto some = problem.order_of(step);
    images.insert(images.end(), some.begin(), some.end());
  }
  return images;
}

std::vector<std::int32_t> counted(int images) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(images));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Cnn, EveryEpochHasAnOrderOfItsOwn) {
  const auto problem = make(generated(100), {{"epochs", "4"}, {"batch", "7"}});
  std::set<std::vector<std::int32_t>> found;
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<std::int32_t> order = order_of_epoch(*problem, epoch);
    found.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(order, counted(100)) << "each image once in epoch " << epoch;
  }
  EXPECT_EQ(found.size(), 4U);
  EXPECT_FALSE(found.contains(counted(100)));
  EXPECT_NE(order_of_epoch(*make(generated(100), {}, 2), 0), order_of_epoch(*make(generated(100), {}, 1), 0));
}

TEST(Cnn, TheOrderOfTheFile) {
  const auto problem = make(generated(100), {{"epochs", "2"}, {"batch", "7"}, {"shuffle", "off"}});
  for (const std::int64_t epoch : {0, 1}) EXPECT_EQ(order_of_epoch(*problem, epoch), counted(100));
}

TEST(Cnn, BatchesOfAnEpoch) {
  const auto ragged = make(generated(10), {{"epochs", "2"}, {"batch", "4"}});
  EXPECT_EQ(ragged->batches(), 3);
  EXPECT_EQ(ragged->steps, 6);
  const std::int64_t images[] = {4, 4, 2, 4, 4, 2};
  for (std::int64_t step = 0; step < 6; ++step) {
    EXPECT_EQ(ragged->images_of(step), images[step]) << step;
    EXPECT_EQ(ragged->order_of(step).size(), static_cast<std::size_t>(images[step])) << step;
  }
  const auto whole = make(generated(10), {{"batch", "10"}});
  EXPECT_EQ(whole->batches(), 1);
  EXPECT_EQ(whole->images_of(0), 10);
  EXPECT_EQ(make(generated(8), {{"batch", "4"}})->batches(), 2);
}

TEST(Cnn, StepsTakeEpochsAsTheyNeedThem) {
  const auto problem = make(generated(10), {{"steps", "5"}, {"warm_up", "2"}, {"batch", "4"}, {"epochs", "9"}});
  EXPECT_EQ(problem->steps, 5);
  EXPECT_EQ(problem->epochs, 3);
  EXPECT_FALSE(problem->evaluates);
  EXPECT_EQ(problem->make_outputs({0, 10}, league::tests::runtime().host_memory())[Cnn::correct].values.size(), 0);
  EXPECT_TRUE(make(generated(10))->evaluates);
}

TEST(Cnn, RatesFallByGamma) {
  const auto problem =
      make(generated(10), {{"epochs", "4"}, {"batch", "4"}, {"learning_rate", "0.5"}, {"gamma", "0.25"}});
  for (std::int64_t step = 0; step < 12; ++step)
    EXPECT_FLOAT_EQ(problem->rate_of(step), static_cast<float>(0.5 * std::pow(0.25, step / 3))) << step;
}

TEST(Cnn, InitialParametersLieWithinTheirBounds) {
  const int inputs[] = {9, 288, 9216, 128};
  const auto problem = make(generated(1), {{"steps", "1"}});
  const auto initial = problem->initial.values<const float>();
  for (int tensor = 0; tensor < tensors; ++tensor) {
    const double bound = 1 / std::sqrt(static_cast<double>(inputs[tensor / 2]));
    double squares = 0;
    for (int i = tensor_begin[tensor]; i < tensor_begin[tensor + 1]; ++i) {
      const double value = initial[static_cast<std::size_t>(i)];
      EXPECT_LE(std::abs(value), bound * (1 + 0x1p-20));
      squares += value * value;
    }
    const int count = tensor_begin[tensor + 1] - tensor_begin[tensor];
    EXPECT_NEAR(squares / count / (bound * bound), 1.0 / 3, 0.9 / std::sqrt(count)) << "uniform: tensor " << tensor;
  }
  EXPECT_NE(initial_of(*make(generated(1), {}, 2)), initial_of(*make(generated(1), {}, 1)));
}

void expect_refused(const Dataset& data, const Values& values, const std::string& text) {
  try {
    make(data, values);
    ADD_FAILURE() << "accepted, in spite of " << text;
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find(text), std::string::npos) << refused.what();
  }
}

TEST(Cnn, BadInputIsNamed) {
  expect_refused(images_like(3, 2, 783), {}, "28 x 28 u8 images, that is 784 features; these are 783 of u8");
  expect_refused(images_like(3, 2, pixels, Dtype::f32), {}, "these are 784 of f32");
  expect_refused(images_like(0, 2), {}, "train: there must be at least one image");
  expect_refused(generated(3), {{"batch", "0"}}, "batch = 0");
  expect_refused(generated(3), {{"batch", "4"}}, "batch: 4, but there are 3 training images; take at most as many");
  expect_refused(generated(3), {{"epochs", "0"}}, "epochs = 0");
  expect_refused(generated(3), {{"learning_rate", "0"}}, "learning_rate");
  expect_refused(generated(3), {{"gamma", "1.5"}}, "gamma");
  expect_refused(generated(3), {{"optimizer", "rmsprop"}}, "optimizer = rmsprop: takes one of adadelta, sgd, adam");
  expect_refused(generated(3), {{"dropout", "yes"}}, "dropout = yes: takes one of on, off");
  expect_refused(generated(3), {{"features", "783"}}, "features = 783: takes 784 to 3072");
  expect_refused(generated(3), {{"warm_up", "1"}}, "warm_up: only with `steps`");
  expect_refused(generated(3), {{"task", "test"}}, "task = test: takes one of train, inference");
  expect_refused(generated(3), {{"task", "inference"}, {"steps", "1"}}, "inference has no steps and no epochs");
  expect_refused(generated(3), {{"task", "inference"}, {"input", "host"}}, "input: host is of training");
  expect_refused(generated(3), {{"input", "disk"}}, "input = disk: takes one of device, host");
  expect_refused(generated(3, 0), {{"task", "inference"}}, "inference classifies the test images; there are none");
  Dataset more = generated(3);
  more.classes = 11;
  expect_refused(more, {}, "classes: 11; the network has 10");
  Dataset data = generated(5, 4);
  data.train_labels.values<std::int32_t>()[3] = 10;
  expect_refused(data, {}, "training image 3 has the label 10: from 0 to 9");
  data.train_labels.values<std::int32_t>()[3] = 9;
  data.test_labels.values<std::int32_t>()[2] = -1;
  expect_refused(data, {}, "test image 2 has the label -1: from 0 to 9");
}

TEST(Cnn, ATrainingThatDivergesIsIllPosed) {
  const Values values{{"optimizer", "adam"}, {"steps", "3"}, {"batch", "2"}};
  for (const bool diverges : {false, true}) {
    Values own = values;
    own["learning_rate"] = diverges ? "1000" : "0.001";
    const auto problem = make(generated(4), own);
    const Verdict verdict = problem->check_alone(Solved(reference(), *problem).results);
    EXPECT_EQ(verdict.passed(), !diverges) << verdict.message;
    EXPECT_EQ(verdict.ill_posed, diverges) << verdict.message;
    EXPECT_EQ(verdict.message.starts_with("the training diverges"), diverges) << verdict.message;
  }
}

TEST(Cnn, GradientsBelowTheSmallestFloatMayBeZero) {
  const auto problem = make(generated(1), {{"steps", "1"}});
  const auto label = static_cast<std::size_t>(problem->data.train_labels.values<const std::int32_t>()[0]);
  problem->initial.values<float>()[fc2_biases + label] = 300;
  const Verdict verdict = problem->check_alone(Solved(reference(), *problem).results);
  EXPECT_TRUE(verdict.passed()) << verdict.message;
}

/// Mask of the values of an image that are kept.
std::vector<bool> kept(const Dropout& dropout, std::int64_t step, std::int64_t position, bool of_pool) {
  std::vector<bool> values;
  if (of_pool)
    for (int k = 0; k < pooled; ++k) values.push_back(Dropout::keeps_pooled(dropout.word(step, position, k / 32), k));
  else
    for (int j = 0; j < hidden; ++j)
      values.push_back(Dropout::keeps_hidden(dropout.word(step, position, Dropout::pooled_words + j / 64), j));
  return values;
}
double share_of(const std::vector<bool>& values) {
  return static_cast<double>(std::ranges::count(values, true)) / static_cast<double>(values.size());
}

TEST(CnnDropout, KeepsThreeQuartersAndAHalf) {
  const Dropout dropout{1, true};
  double pool = 0, dense = 0;
  for (std::int64_t position = 0; position < 64; ++position) {
    const double share = share_of(kept(dropout, 3, position, true));
    EXPECT_NEAR(share, 0.75, 0.03) << "image " << position;
    pool += share / 64;
    dense += share_of(kept(dropout, 3, position, false)) / 64;
  }
  EXPECT_NEAR(pool, 0.75, 0.003);
  EXPECT_NEAR(dense, 0.5, 0.03);
  EXPECT_DOUBLE_EQ(dropout.pooled_scale<double>() * 0.75, 1);
  EXPECT_DOUBLE_EQ(dropout.hidden_scale<double>() * 0.5, 1);
}

/// Two masks are independent.
TEST(CnnDropout, StepsImagesAndSeedsHaveMasksOfTheirOwn) {
  const Dropout dropout{1, true}, other{2, true};
  const auto same = [](const std::vector<bool>& a, const std::vector<bool>& b) {
    std::vector<bool> equal;
    for (std::size_t i = 0; i < a.size(); ++i) equal.push_back(a[i] == b[i]);
    return share_of(equal);
  };
  for (const bool of_pool : {true, false}) {
    const std::vector<bool> here = kept(dropout, 3, 5, of_pool);
    EXPECT_EQ(here, kept(dropout, 3, 5, of_pool));
    const double chance = of_pool ? 0.625 : 0.5, spread = of_pool ? 0.03 : 0.2;
    EXPECT_NEAR(same(here, kept(dropout, 4, 5, of_pool)), chance, spread) << "the next step";
    EXPECT_NEAR(same(here, kept(dropout, 3, 6, of_pool)), chance, spread) << "the next image";
    EXPECT_NEAR(same(here, kept(other, 3, 5, of_pool)), chance, spread) << "another seed";
  }
}

TEST(CnnDropout, OffKeepsEverything) {
  const Dropout off{1, false};
  for (const bool of_pool : {true, false}) EXPECT_EQ(share_of(kept(off, 3, 5, of_pool)), 1);
  EXPECT_EQ(off.pooled_scale<float>(), 1);
  EXPECT_EQ(off.hidden_scale<float>(), 1);
}

// Variants.

/// Every variant on these numbers of devices, twice each: the same bits, except for a non-deterministic library.
void everywhere(const Cnn& problem, const std::vector<int>& device_counts) {
  for (const Variant* variant : league::tests::variants<Cnn>())
    for (const int devices : device_counts) {
      if (!has_devices(*variant, devices)) continue;
      SCOPED_TRACE(name_of(*variant) + " devices " + std::to_string(devices));
      Solved run(*variant, problem, {.devices = devices});
      std::vector<std::vector<std::byte>> first;
      for (const Output& output : run.results)
        first.emplace_back(output.values.bytes().begin(), output.values.bytes().end());
      for (Output& output : run.results) std::ranges::fill(output.values.bytes(), std::byte{0xff});
      run.again();
      const bool adds_in_order = variant->model.name != "cudnn";  // the fastest algorithm may be non-deterministic
      for (std::size_t i = 0; adds_in_order && i < first.size(); ++i)
        EXPECT_TRUE(std::ranges::equal(run.results[i].values.bytes(), first[i]))
            << run.results[i].name << ": two runs differ";
      const Verdict verdict = problem.check_alone(run.results);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
    }
}

TEST(CnnDevices, ShareABatch) { everywhere(*make(generated(23), {{"steps", "2"}, {"batch", "11"}}), {1, 2, 3, 7}); }
TEST(CnnDevices, MoreThanImagesOfABatch) {
  everywhere(*make(generated(7), {{"steps", "2"}, {"batch", "3"}, {"optimizer", "adam"}, {"learning_rate", "0.001"}}),
             {7});
}
TEST(CnnDevices, WithALastBatchOfFewerImages) {
  everywhere(*make(generated(11), {{"steps", "2"}, {"batch", "8"}}), {2, 7});
}
TEST(CnnDevices, OverTwoEpochsWithTests) {
  everywhere(*make(generated(5, 5),
                   {{"epochs", "2"}, {"batch", "4"}, {"optimizer", "sgd"}, {"learning_rate", "0.1"}, {"gamma", "0.5"}}),
             {3});
}

/// The check only covers the last step and the last test of a training. Earlier ones are the last ones of shorter
/// trainings, which our own models reproduce bitwise.
TEST(CnnDevices, EveryStepAndTestIsTheLastOfAShorterTraining) {
  const auto is_own = [](const Variant& variant) { return model_facts(variant.model.name)->own; };
  for (const Variant* variant : league::tests::variants<Cnn>(is_own))
    for (const Execution execution : variant->executions)
      for (const char* longer_in : {"epochs", "steps"}) {
        SCOPED_TRACE(name_of(*variant) + " " + std::string(name(execution)) + " " + longer_in);
        std::vector<float> losses;
        std::vector<std::int64_t> correct;
        for (int count = 1; count <= 4; ++count) {
          const auto problem = make(generated(7, 9), {{"batch", "4"}, {longer_in, std::to_string(count)}});
          const Solved run(*variant, *problem, {.execution = execution});
          const Verdict verdict = problem->check_alone(run.results);
          EXPECT_TRUE(verdict.passed()) << verdict.message;
          const std::vector<float> longer = run.values<float>(Cnn::loss);
          const std::vector<std::int64_t> tests = run.values<std::int64_t>(Cnn::correct);
          ASSERT_GT(longer.size(), losses.size());
          EXPECT_TRUE(std::ranges::equal(losses, std::span(longer).first(losses.size()))) << "after " << count;
          EXPECT_TRUE(std::ranges::equal(correct, std::span(tests).first(correct.size()))) << "after " << count;
          losses = longer, correct = tests;
        }
      }
}

TEST(CnnDevices, WhereNoGradientGoesThroughThePool) {
  const auto problem = make(generated(5), {{"steps", "2"}, {"batch", "3"}});
  std::ranges::fill(problem->initial.values<float>().subspan(conv2_biases, channels2), -100.0F);
  everywhere(*problem, {1, 2});
  const Solved run(reference(), *problem);
  for (const std::uint8_t decision : run.values<std::uint8_t>(Cnn::pool_decisions))
    EXPECT_FALSE(Decision::live(decision));
}

TEST(CnnDevices, StepsThatWarmUpAreTaken) {
  const Values values{{"batch", "4"}, {"optimizer", "adam"}, {"learning_rate", "0.001"}};
  Values cold = values, warm = values;
  cold["steps"] = "4";
  warm["steps"] = "2", warm["warm_up"] = "2";
  const auto all = make(generated(12), cold), last = make(generated(12), warm);
  const Solved from_start(reference(), *all);
  Solved warmed(reference(), *last);
  warmed.again();
  EXPECT_TRUE(last->check_alone(warmed.results).passed()) << last->check_alone(warmed.results).message;
  for (const auto output : {Cnn::weights, Cnn::state, Cnn::gradient})
    EXPECT_EQ(warmed.values<float>(output), from_start.values<float>(output)) << output;
  EXPECT_EQ(warmed.values<float>(Cnn::loss).at(1), from_start.values<float>(Cnn::loss).at(3));
}

}  // namespace
}  // namespace league::cnn::tests
