// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "algorithms/contract/partition.hpp"
#include "algorithms/knn/knn.hpp"
#include "tests/algorithms/knn.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

namespace league::knn {
namespace {

using tests::name_of, tests::Solved;
using Rows = std::vector<std::vector<int>>;
using Indices = std::vector<std::int64_t>;

HostArray bytes(const Rows& rows) {
  HostArray array(
      tests::runtime().host_memory(), Dtype::u8,
      {static_cast<std::int64_t>(rows.size()), rows.empty() ? 1 : static_cast<std::int64_t>(rows[0].size())});
  auto value = array.values<std::uint8_t>().begin();
  for (const std::vector<int>& row : rows)
    for (const int feature : row) *value++ = static_cast<std::uint8_t>(feature);
  return array;
}

HostArray integers(const std::vector<std::int32_t>& values) {
  HostArray array(tests::runtime().host_memory(), Dtype::i32, {static_cast<std::int64_t>(values.size())});
  std::ranges::copy(values, array.values<std::int32_t>().begin());
  return array;
}

Dataset dataset(const Rows& train, const std::vector<std::int32_t>& labels, const Rows& test) {
  return {bytes(train), integers(labels), bytes(test), integers(std::vector<std::int32_t>(test.size(), 0)), 2};
}

constexpr std::array pixel_types{Dtype::f32, Dtype::i32, Dtype::u8};

/// Runs every variant in every pixel type, checks its results and passes them to `expect`.
void everywhere(const Dataset& data, int k, const char* votes, const std::function<void(Outputs&)>& expect) {
  for (const Dtype dtype : pixel_types) {
    const auto problem = make(data, dtype, k, votes);
    for (const Variant* variant : tests::variants<Knn>()) {
      SCOPED_TRACE(name_of(*variant) + " " + std::string(name(dtype)) + " " + votes);
      const Solved run(*variant, *problem);
      const Verdict verdict = problem->check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      expect(*run.outputs);
    }
  }
}

Indices neighbours_of(const Outputs& outputs, std::int64_t row) {
  const auto found = outputs[Knn::neighbours].values.values<const std::int64_t>(row, row + 1);
  return {found.begin(), found.end()};
}
std::int32_t label_of(const Outputs& outputs, std::int64_t row) {
  return outputs[Knn::labels].values.values<const std::int32_t>()[static_cast<std::size_t>(row)];
}

TEST(Knn, VotesDifferByTheirRules) {
  // Label 1 at distance 0, label 2 at 0 and at 5.
  const Dataset data = dataset({{9, 0}, {9, 0}, {5, 3}, {200, 200}}, {1, 2, 2, 7}, {{9, 0}});
  everywhere(data, 3, "eps", [](Outputs& outputs) {
    EXPECT_EQ(neighbours_of(outputs, 0), (Indices{0, 1, 2}));
    EXPECT_EQ(outputs[Knn::distances].values.values<const double>()[2], 5);
    EXPECT_EQ(label_of(outputs, 0), 2);
  });
  everywhere(data, 3, "inverse", [](Outputs& outputs) { EXPECT_EQ(label_of(outputs, 0), 1); });
  everywhere(data, 3, "uniform", [](Outputs& outputs) { EXPECT_EQ(label_of(outputs, 0), 2); });
}

TEST(Knn, TiesGoToTheLowerIndexAndTheLowestLabel) {
  const Rows same(200, {7, 7, 7});
  std::vector<std::int32_t> labels(same.size());
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(9 - i % 10);
  for (const char* votes : {"eps", "inverse", "uniform"})
    everywhere(dataset(same, labels, {{7, 7, 7}, {0, 7, 7}}), 4, votes, [](Outputs& outputs) {
      EXPECT_EQ(neighbours_of(outputs, 0), (Indices{0, 1, 2, 3}));
      EXPECT_EQ(neighbours_of(outputs, 1), (Indices{0, 1, 2, 3}));
      EXPECT_EQ(label_of(outputs, 0), 6);
      EXPECT_EQ(label_of(outputs, 1), 6);
    });
}

TEST(Knn, AnyLabels) {
  const Dataset data = dataset({{1}, {2}, {3}, {250}}, {-5, 1'000'000, -5, 3}, {{2}, {255}});
  everywhere(data, 1, "uniform", [](Outputs& outputs) {
    EXPECT_EQ(label_of(outputs, 0), 1'000'000);
    EXPECT_EQ(label_of(outputs, 1), 3);
  });
  everywhere(data, 3, "uniform", [](Outputs& outputs) { EXPECT_EQ(label_of(outputs, 0), -5); });
}

TEST(Knn, OneClassAndAllRowsAsNeighbours) {
  everywhere(dataset({{3}, {1}, {2}}, {4, 4, 4}, {{0}}), 3, "inverse", [](Outputs& outputs) {
    EXPECT_EQ(neighbours_of(outputs, 0), (Indices{1, 2, 0}));
    EXPECT_EQ(label_of(outputs, 0), 4);
  });
}

TEST(Knn, DistancesThatAFloatCannotTellApart) {
  // Squares of 50,9xx,xxx that differ by 1, the farther one first.
  std::vector<int> far(784, 255), near(784, 255);
  far[5] = 1, near[5] = 0;
  everywhere(dataset({far, near}, {1, 2}, {std::vector<int>(784, 0)}), 2, "eps",
             [](Outputs& outputs) { EXPECT_EQ(neighbours_of(outputs, 0), (Indices{1, 0})); });
}

TEST(Knn, ManyTiesOnSeveralDevicesAndLaunches) {
  for (const auto& [train, test, features, levels, k] :
       {std::tuple{1100, 130, 5, 2, 3}, std::tuple{1300, 7, 784, 2, 5}, std::tuple{2100, 33, 40, 256, 64},
        std::tuple{70, 2, 1, 3, 64}}) {
    const Dataset data = generated(train, test, features, Dtype::u8, static_cast<std::uint64_t>(levels));
    for (const Dtype dtype : pixel_types) {
      const auto problem = make(data, dtype, k);
      for (const Variant* variant : tests::variants<Knn>())
        for (const int devices : {1, 3})
          for (const Launch launch :
               {Launch{}, Launch{.league = 3}, Launch{.tile = 256}, Launch{.league = 2, .team = 64, .tile = 128}}) {
            SCOPED_TRACE(name_of(*variant) + " " + std::string(name(dtype)) + " features " + std::to_string(features) +
                         " devices " + std::to_string(devices) + " team " + std::to_string(launch.team));
            try {
              const Solved run(*variant, *problem, {.devices = devices, .launch = launch});
              const Verdict verdict = problem->check_alone(*run.outputs);
              EXPECT_TRUE(verdict.passed()) << verdict.message;
              EXPECT_EQ(verdict.ties, 0);
              EXPECT_EQ(verdict.rows_checked, test);
            } catch (const Unsupported&) {
              EXPECT_TRUE(launch != Launch{} || devices > 1);
            }
          }
    }
  }
}

TEST(Knn, NumbersThatAreNotPixelsAreHeldToTheBound) {
  for (const std::int64_t features : {3, 50, 1100}) {
    const Dataset data = generated(900, 60, features, Dtype::f32, 0);
    const auto problem = make(data, Dtype::f32, 3);
    EXPECT_FALSE(problem->exact);
    for (const Variant* variant : tests::variants<Knn>()) {
      SCOPED_TRACE(name_of(*variant));
      const Solved run(*variant, *problem);
      const Verdict verdict = problem->check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      EXPECT_LE(verdict.ties, 1);
    }
  }
}

TEST(Knn, BlocksOfRowsGiveTheSame) {
  const auto problem = make(generated(700, 90, 20, Dtype::u8, 256), Dtype::f32, 3);
  for (const Variant* variant : tests::variants<Knn>()) {
    const std::string& method = variant->method;
    if (method == "fused" || method == "wgmma" || method.starts_with("mma")) continue;  // no matrix
    SCOPED_TRACE(name_of(*variant));
    const Solved run(*variant, *problem, {.budget = 260'000});
    const Verdict verdict = problem->check_alone(*run.outputs);
    EXPECT_TRUE(verdict.passed()) << verdict.message;
  }
}

TEST(Knn, WhatDoesNotFitIsRefusedWithTheNumbers) {
  const auto problem = make(generated(700, 90, 20, Dtype::u8, 256), Dtype::f32, 3);
  for (const Variant* variant : tests::variants<Knn>()) try {
      const Solved run(*variant, *problem, {.budget = 50'000});
      ADD_FAILURE() << name_of(*variant);
    } catch (const Unsupported& refused) {
      const std::string what = refused.what();
      EXPECT_NE(what.find("needs "), std::string::npos) << what;
      EXPECT_NE(what.find("budget 50 KB"), std::string::npos) << what;
    }
}

void expect_refused(const Dataset& data, Dtype dtype, int k, const std::string& key) {
  try {
    make(data, dtype, k);
    ADD_FAILURE() << "accepted, in spite of " << key;
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find(key), std::string::npos) << refused.what();
  }
}

TEST(Knn, BadInputIsNamed) {
  expect_refused(dataset({{1}, {2}}, {0, 1}, {{1}}), Dtype::f32, 3, "k = 3: there are 2 training rows");
  expect_refused(dataset({{1}, {2}}, {0, 1}, {{1}}), Dtype::f32, 65, "k = 65");
  expect_refused(dataset({}, {}, {{1}}), Dtype::f32, 1, "train");
  expect_refused(dataset({{1}}, {0}, {}), Dtype::f32, 1, "test");
  expect_refused(dataset({{1}}, {0}, {{1, 2}}), Dtype::f32, 1, "features");
  expect_refused(generated(3, 1, 1025, Dtype::u8, 2), Dtype::u8, 1, "1024");
  expect_refused(generated(3, 1, 4, Dtype::f32, 0), Dtype::i32, 1, "dtype i32");
}

TEST(Knn, ProcessesTakeTheirRows) {
  const Dataset data = generated(300, 23, 7, Dtype::u8, 3);
  const auto whole = make(data, Dtype::f32, 3);
  for (const Variant* variant : tests::variants<Knn>()) {
    SCOPED_TRACE(name_of(*variant));
    const Solved expected(*variant, *whole);
    Verdict all;
    for (int process = 0; process < 3; ++process) {
      const Range local = partition(23, 1, process, 3).local_rows();
      const auto part = make(data, Dtype::f32, 3);
      part->make_inputs(local, tests::runtime().host_memory());
      EXPECT_EQ(part->inputs()[2].values.rows(), local.size());
      const Solved run(*variant, *part, {.process = process, .processes = 3});
      const Verdict verdict = part->check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      all += verdict;
      for (std::int64_t row = local.begin; row < local.end; ++row) {
        EXPECT_EQ(neighbours_of(*run.outputs, row - local.begin), neighbours_of(*expected.outputs, row));
        EXPECT_EQ(label_of(*run.outputs, row - local.begin), label_of(*expected.outputs, row));
      }
    }
    EXPECT_EQ(all.rows_checked, 23);
  }
}

/// Modified right results must not pass.
void expect_found(const Knn& problem, const std::function<void(Outputs&)>& spoil) {
  const Variant* serial = registry().variant("knn", "fused", "serial");
  ASSERT_NE(serial, nullptr);
  Solved run(*serial, problem);
  ASSERT_TRUE(problem.check_alone(*run.outputs).passed());
  spoil(run.results);
  EXPECT_FALSE(problem.check_alone(*run.outputs).passed());
}

TEST(Knn, CheckFindsWhatIsWrong) {
  const auto problem = make(generated(60, 20, 2, Dtype::u8, 3), Dtype::f32, 3, "uniform");
  expect_found(*problem, [](Outputs& outputs) { ++outputs[Knn::labels].values.values<std::int32_t>()[19]; });
  expect_found(*problem, [](Outputs& outputs) {
    auto of_row = outputs[Knn::neighbours].values.values<std::int64_t>(7, 8);
    std::swap(of_row[0], of_row[1]);  // equally far, as there are three grey levels: the order of the indices
  });
  expect_found(*problem, [](Outputs& outputs) { outputs[Knn::neighbours].values.values<std::int64_t>()[0] = -1; });
  expect_found(*problem, [](Outputs& outputs) {
    outputs[Knn::distances].values.values<double>()[4] = std::numeric_limits<double>::quiet_NaN();
  });
  expect_found(*problem, [](Outputs& outputs) { outputs[Knn::distances].values.values<double>()[4] += 1e-12; });

  const auto numbers = make(generated(60, 20, 4, Dtype::f32, 0), Dtype::f32, 1, "uniform");
  expect_found(*numbers, [&](Outputs& outputs) {  // another training row, with its distance and label
    std::int64_t& neighbour = outputs[Knn::neighbours].values.values<std::int64_t>()[3];
    neighbour = (neighbour + 1) % 60;
    double squared = 0;
    for (std::int64_t f = 0; f < 4; ++f) {
      const double difference =
          double{numbers->test.values<const float>(3, 4)[static_cast<std::size_t>(f)]} -
          double{numbers->train.values<const float>(neighbour, neighbour + 1)[static_cast<std::size_t>(f)]};
      squared += difference * difference;
    }
    outputs[Knn::distances].values.values<double>()[3] = std::sqrt(squared);
    outputs[Knn::labels].values.values<std::int32_t>()[3] =
        numbers->train_labels.values<const std::int32_t>()[static_cast<std::size_t>(neighbour)];
  });
}

/// The test row is 1, the training rows are 2 and `other`. @returns what the check says of `neighbour` as the nearest
Verdict verdict_on(float other, std::int64_t neighbour, double distance) {
  Dataset data = generated(2, 1, 1, Dtype::f32, 0);
  data.test.values<float>()[0] = 1;
  data.train.values<float>()[0] = 2;
  data.train.values<float>()[1] = other;
  const auto problem = make(data, Dtype::f32, 1, "uniform");
  Solved run(*registry().variant("knn", "fused", "serial"), *problem);
  Outputs& outputs = run.results;
  outputs[Knn::neighbours].values.values<std::int64_t>()[0] = neighbour;
  outputs[Knn::distances].values.values<double>()[0] = distance;
  outputs[Knn::labels].values.values<std::int32_t>()[0] =
      problem->train_labels.values<const std::int32_t>()[static_cast<std::size_t>(neighbour)];
  return problem->check_alone(outputs);
}

/// With one feature: 5 eps of the distance; 5 eps of f32 times |x|^2 + 2 |y|^2 + 2 |y'|^2, 17 here.
TEST(Knn, BoundsOfNumbersAreThoseOfTheirRoundings) {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  EXPECT_TRUE(verdict_on(2.5F, 0, 1 + 4 * eps).passed());
  EXPECT_FALSE(verdict_on(2.5F, 0, 1 + 8 * eps).passed());
  const auto off = [](float steps) {  // the square of the distance is 4 eps per step farther
    const float other = 2 + 2 * steps * std::numeric_limits<float>::epsilon();
    return verdict_on(other, 1, double{other} - 1);
  };
  EXPECT_TRUE(off(21).passed()) << off(21).message;
  EXPECT_NEAR(off(21).worst, 84.0 / 85, 1e-4);
  EXPECT_FALSE(off(22).message.empty());
}

}  // namespace
}  // namespace league::knn
