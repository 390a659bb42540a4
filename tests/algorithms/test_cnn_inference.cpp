// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/model.hpp"
#include "tests/algorithms/cnn.hpp"

// The network without training: every variant on every number of devices, and the check of wrong results.
namespace league::cnn::tests {
namespace {

const Values inference{{"task", "inference"}, {"batch", "3"}};

TEST(CnnInference, HasTheClassesOfTheInitialNetwork) {
  const auto problem = make(generated(4, 8), inference);
  for (const Variant* variant : league::tests::variants<Cnn>())
    for (const int devices : {1, 2, 3, 7}) {
      if (!has_devices(*variant, devices)) continue;
      SCOPED_TRACE(name_of(*variant) + " devices " + std::to_string(devices));
      const Solved run(*variant, *problem, {.devices = devices});
      const Verdict verdict = problem->check_alone(run.results);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      EXPECT_EQ(verdict.rows_checked, 8);
      EXPECT_TRUE(std::ranges::equal(run.values<float>(Cnn::weights), problem->initial.values<float>()));
    }
}

TEST(CnnInference, ComesAfterTheStepsOfTheWarmUp) {
  Values values = inference;
  values["warm_up"] = "3";
  const auto problem = make(generated(4, 8), values);
  const auto training = make(generated(4, 8), {{"batch", "3"}, {"steps", "3"}});
  for (const Variant* variant : league::tests::variants<Cnn>()) {
    SCOPED_TRACE(name_of(*variant));
    Solved run(*variant, *problem);
    const Verdict verdict = problem->check_alone(run.results);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
    const auto weights = run.values<float>(Cnn::weights);
    run.again();
    EXPECT_EQ(run.values<float>(Cnn::weights), weights);
    if (model_facts(variant->model.name)->own) {
      EXPECT_EQ(Solved(*variant, *training).values<float>(Cnn::weights), weights);
    }
  }
}

TEST(CnnInference, OtherWeightsAndClassesAreFound) {
  const auto problem = make(generated(4, 8), inference);
  Solved run(reference(), *problem);
  values_of<float>(run.results, Cnn::weights)[5] += 1e-6F;
  EXPECT_NE(problem->check_alone(run.results).message.find("weights: not the initial ones"), std::string::npos);
  run.again();
  values_of<std::int64_t>(run.results, Cnn::correct)[0] += 1;
  EXPECT_NE(problem->check_alone(run.results).message.find("of the predictions are right"), std::string::npos);
  run.again();
  auto& found = values_of<std::int32_t>(run.results, Cnn::predictions)[3];
  found = (found + 1) % classes;
  EXPECT_NE(problem->check_alone(run.results).message.find("predictions[3]"), std::string::npos);
  run.again();
  Values values = inference;
  values["warm_up"] = "1";
  const auto other = make(generated(4, 8), values);
  EXPECT_NE(other->check_alone(run.results).message.find("unchanged by the warm-up"), std::string::npos);
}

}  // namespace
}  // namespace league::cnn::tests
