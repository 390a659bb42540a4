// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstdlib>

#include "bench/errors.hpp"
#include "bench/measure/null_test.hpp"
#include "bench/study/axes.hpp"
#include "bench/study/study.hpp"
#include "bench/study/value.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

using tests::TemporaryFolder;

class StudyTest : public ::testing::Test {
 protected:
  Study read(const std::string& text, const std::vector<std::string>& settings = {}) {
    std::vector<Assignment> assignments;
    for (const std::string& setting : settings) assignments.push_back(read_assignment(setting));
    return read_study(folder_.write("study.toml", text), assignments, tests::runtime(), datasets_);
  }
  std::vector<std::string> names(const std::string& text, const std::vector<std::string>& settings = {}) {
    std::vector<std::string> all;
    for (const Comparison& comparison : read(text, settings).comparisons)
      for (const Case& that : comparison.cases) all.push_back(that.name);
    return all;
  }
  /// What the study is refused with.
  std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
    try {
      read(text, settings);
    } catch (const BadInput& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

const std::string small = "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\n";

TEST_F(StudyTest, NamesHaveTheSizesAndWhatIsNotAtItsDefault) {
  EXPECT_EQ(names(small + "sizes = 1024"),
            std::vector<std::string>{"vector_add/method:plain/model:serial/dtype:f32/n:1024/devices:1/launch:auto"});
  EXPECT_EQ(
      names(small + "sizes = 8\ndtypes = \"f64\"\nmemory = \"unified\"\nseed = 7\ndevices = 2\nlaunches = {team = 8, "
                    "league = 132}"),
      std::vector<std::string>{"vector_add/method:plain/model:serial/dtype:f64/n:8/memory:unified/seed:7/devices:2/"
                               "launch:league=132,team=8"});
}

TEST_F(StudyTest, ANullTestRepeatsTheFirstNativeCase) {
  const auto repeated = [this](const std::string& text) {
    Study study = read(text + "sizes = 8\n");
    add_null_tests(study);
    return study.comparisons[0].cases.back().repeats;
  };
  const std::string all = "algorithm = \"vector_add\"\nmethods = [\"wide\", \"plain\"]\n";
  const std::string rest = "/dtype:f32/n:8/devices:1/launch:auto";
  EXPECT_EQ(repeated(all + "models = [\"serial\", \"openmp\"]\n"), "vector_add/method:wide/model:openmp" + rest);
  EXPECT_EQ(repeated(all + "models = \"serial\"\n"), "vector_add/method:wide/model:serial" + rest);
  EXPECT_EQ(repeated(all + "models = \"serial\"\nnull = true\n"), "vector_add/method:wide/model:serial" + rest);
  EXPECT_EQ(repeated(all + "models = \"serial\"\nnull = false\n"), "");
  EXPECT_EQ(repeated(all + "models = \"serial\"\ndevices = 4000\n"), "") << "what cannot run is not repeated";
  EXPECT_EQ(refusal(small, {"null=no"}), "--set null=no: `null` takes true or false, not a string");
  EXPECT_EQ(refusal(small + "samples = true\n").substr(folder_.path().string().size()),
            "/study.toml:4: `samples` takes integers, not a boolean");
}

TEST_F(StudyTest, CommunicatorsAreComparedLikeLaunches) {
  const Study study = read(small + "sizes = 8\ndevices = [1, 2]\ncommunicator = [\"local\", \"nccl\"]\n");
  ASSERT_EQ(study.comparisons.size(), 2U);
  ASSERT_EQ(study.comparisons[0].cases.size(), 1U) << "one device needs no communicator";
  EXPECT_EQ(study.comparisons[0].cases[0].communicator, "local");
  ASSERT_EQ(study.comparisons[1].cases.size(), 2U);
  EXPECT_EQ(study.comparisons[1].name, "vector_add/dtype:f32/n:8/devices:2");
  const Case& nccl = study.comparisons[1].cases[1];
  EXPECT_EQ(nccl.communicator, "nccl");
  EXPECT_EQ(nccl.name, "vector_add/method:plain/model:serial/dtype:f32/n:8/devices:2/communicator:nccl/launch:auto");
  const std::string refused = refusal(small, {"communicator=ncll"});
  EXPECT_TRUE(
      refused.starts_with("--set communicator=ncll: `communicator` is 'ncll'; did you mean 'nccl'? Known: local, "))
      << refused;
  EXPECT_NE(refused.find(", local_serialized, mpi, nccl"), std::string::npos) << "by name: " << refused;
}

TEST_F(StudyTest, AStudyIsTheProductOfItsLists) {
  const Study study = read(
      "algorithm = \"vector_add\"\nmethods = [\"plain\", \"wide\"]\nmodels = [\"serial\", \"openmp\"]\n"
      "sizes = [1, 2, 3]\ndtypes = [\"f32\", \"f64\"]\ndevices = [1, 2]\n");
  EXPECT_EQ(study.comparisons.size(), 3U * 2 * 2);
  for (const Comparison& comparison : study.comparisons) EXPECT_EQ(comparison.cases.size(), 4U) << comparison.name;
  EXPECT_EQ(study.comparisons.front().name, "vector_add/dtype:f32/n:1/devices:1");
  EXPECT_EQ(study.title, "study");
}

TEST_F(StudyTest, MethodsThatSolveDifferentProblemsAreNotCompared) {
  const Study study =
      read("algorithm = \"vector_add\"\nmethods = [\"plain\", \"fill\"]\nmodels = \"serial\"\nsizes = 4\n");
  ASSERT_EQ(study.comparisons.size(), 2U);
  EXPECT_EQ(study.comparisons[1].name, "vector_add/problem:fill/dtype:f32/n:4/devices:1");
}

TEST_F(StudyTest, SizesAreTablesPointsOrNumbers) {
  const std::string head = "algorithm = \"distance_matrix\"\nmethods = \"direct\"\nmodels = \"serial\"\n";
  EXPECT_EQ(names(head + "sizes = {n = [2, 3], dimension = [1, 3]}").size(), 4U);
  EXPECT_EQ(names(head + "sizes = [{n = 2, dimension = 1}, {n = 3, dimension = 3}]").size(), 2U);
  EXPECT_EQ(names(head + "sizes = [{n = 2, dimension = 1}, {n = 3, dimension = 3}]", {"sizes.n=[5, 6]"}).size(), 4U);
  EXPECT_EQ(names(head + "sizes = [{n = 2}, {n = 3}]", {"sizes.n=5"}).size(), 1U);
  EXPECT_NE(refusal(head + "sizes = 3").find("takes tables with n, dimension"), std::string::npos);
}

TEST_F(StudyTest, TheTopLevelIsTheDefaultOfAllCases) {
  const std::string text =
      "samples = 3\nmodels = \"serial\"\nsizes = 4\n[[cases]]\nalgorithm = \"vector_add\"\nmethods = \"plain\"\n"
      "[[cases]]\nalgorithm = \"ceilings\"\nmethods = \"copy\"\nsamples = 5\nsizes = 9\n";
  const Study study = read(text);
  ASSERT_EQ(study.comparisons.size(), 2U);
  EXPECT_EQ(study.comparisons[0].cases[0].samples, 3);
  EXPECT_EQ(study.comparisons[1].cases[0].samples, 5);
  EXPECT_EQ(study.comparisons[1].name, "ceilings/problem:copy/dtype:f32/n:9/devices:1");
  const Study other = read(text, {"samples=7", "ceilings.sizes.n=11"});
  EXPECT_EQ(other.comparisons[0].cases[0].samples, 7);
  EXPECT_EQ(other.comparisons[1].cases[0].samples, 7);
  EXPECT_EQ(other.comparisons[0].name, "vector_add/dtype:f32/n:4/devices:1");
  EXPECT_EQ(other.comparisons[1].name, "ceilings/problem:copy/dtype:f32/n:11/devices:1");
}

TEST_F(StudyTest, SamplesMayFollowFromTheirNoise) {
  const auto precision = [this](const std::string& text, const std::vector<std::string>& set = {}) {
    return read(small + text, set).comparisons[0].cases[0].precision;
  };
  EXPECT_EQ(precision(""), std::nullopt);
  EXPECT_EQ(precision("samples = 20\nmax_noise = 0.02\ntime_limit = 3"), std::nullopt);
  EXPECT_EQ(precision("samples = \"auto\""), Precision{});
  EXPECT_EQ(precision("samples = \"auto\"\nmax_noise = 0.02\ntime_limit = 3"),
            (Precision{.max_noise = 0.02, .time_limit_s = 3}));
  EXPECT_EQ(precision("time_limit = 3", {"samples=auto"}), (Precision{.time_limit_s = 3}));
  EXPECT_EQ(precision("samples = \"auto\"", {"samples=20"}), std::nullopt);
}

TEST_F(StudyTest, AComparisonIsSampledInOneWay) {
  const std::string one = "[[cases]]\nalgorithm = \"vector_add\"\nmodels = \"serial\"\nsizes = 4\nmethods = ";
  const std::string other = one + "\"plain\"\n" + one + "\"wide\"\nsamples = ";
  EXPECT_EQ(read(other + "20\n").comparisons.size(), 1U);
  EXPECT_NE(refusal(other + "\"auto\"\n").find("vector_add/dtype:f32/n:4/devices:1"), std::string::npos);
}

TEST_F(StudyTest, SettingsTakeWordsListsAndTables) {
  EXPECT_EQ(names(small, {"sizes=1,2", "dtypes=f32,f64"}).size(), 4U);
  EXPECT_EQ(names(small + "sizes = 1", {"launches=auto,{league=4,team=[1,2]}"}).size(), 3U);
  EXPECT_EQ(names(small + "sizes = 1", {"launches=auto,tuned,{team=[1,2]}", "methods=transform", "models=cub"}),
            std::vector<std::string>{"vector_add/method:transform/model:cub/dtype:f32/n:1/devices:1/launch:auto"})
      << "a library has no launches";
  EXPECT_EQ(names(small + "sizes = 1", {"models=all", "methods=all", "models=serial"}).size(), 4U);
  EXPECT_EQ(names(small + "sizes = 1", {"methods=-wide,-transform"}).size(), 3U);
  EXPECT_EQ(refusal(small, {"dtypes=-f32,-f64,-i32"}),
            "--set dtypes=-f32,-f64,-i32: `dtypes` rules out all of f32, f64, i32");
}

TEST_F(StudyTest, WhatCannotRunIsSkippedWithTheReason) {
  const Study study = read(
      "algorithm = \"vector_add\"\nsizes = 4\nmodels = [\"serial\", \"hip\", \"cuda\"]\nmethods = \"plain\"\ndevices = "
      "1000\n");
  for (const Case& that : study.comparisons.at(0).cases) EXPECT_FALSE(that.skip.empty()) << that.name;
  EXPECT_NE(study.comparisons[0].cases[0].skip.find("needs 1000 host devices"), std::string::npos);
}

TEST_F(StudyTest, ErrorsNameFileLineKeyAndTheNearestName) {
  const auto expect = [&](const std::string& text, std::initializer_list<const char*> parts) {
    const std::string message = refusal(text);
    for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << text << "\n-> " << message;
  };
  expect("algorithm = \"vector_ad\"", {"study.toml:1: `algorithm`", "did you mean 'vector_add'"});
  expect("sizes = 3", {"study.toml: no `algorithm`"});
  expect(small + "size = 3", {"study.toml:4: `size`", "did you mean 'sizes'"});
  expect(small + "sizes = {m = 3}", {"study.toml:4: `sizes.m`", "did you mean 'n'"});
  expect(small + "sizes = []", {"study.toml:4: `sizes`", "empty list"});
  expect(small + "sizes = -1", {"study.toml:4: `sizes`", "-1"});
  expect(small + "sizes = [\n4,\n99999999999999999999]", {"study.toml:6: `sizes`"});
  expect(small + "sizes = 1099511627777", {"study.toml:4: `sizes`", "0 to 1099511627776"});
  expect(small + "sizes = 1.5", {"study.toml:4: `sizes`", "not a floating-point number"});
  expect(small + "samples = \"many\"", {"study.toml:4: `samples`", "a number or \"auto\", not 'many'"});
  expect(small + "samples = \"auto\"\nmax_noise = 1.5", {"study.toml:5: `max_noise`", "1.5"});
  expect(small + "samples = \"auto\"\ntime_limit = 0", {"study.toml:5: `time_limit`"});
  expect(small + "samples = 0", {"study.toml:4: `samples`"});
  expect(small + "dtypes = \"f16\"", {"study.toml:4: `dtypes`", "did you mean 'f"});
  expect(small + "memory = \"unfied\"", {"study.toml:4: `memory`", "did you mean 'unified'"});
  expect(small + "launches = \"automatic\"", {"study.toml:4: `launches`"});
  expect(small + "launches = {teams = 4}", {"study.toml:4: `launches.teams`", "did you mean 'team'"});
  expect("algorithm = \"vector_add\"\nmodels = \"kokos\"", {"study.toml:2: `models`", "did you mean 'kokkos'"});
  expect("algorithm = \"vector_add\"\nmodels = \"numpy\"",
         {"study.toml:2: `models`", "(Python peers: with --python FILE)"});
  expect("algorithm = \"vector_add\"\nmethods = [\"plain\",\n\"wid\"]",
         {"study.toml:3: `methods`", "did you mean 'wide'"});
  expect("algorithm = \"distance_matrix\"\nsizes = {n = 1000000000000, dimension = 1000000000000}",
         {"study.toml:2: `sizes`", "64 bits"});
  expect(small + "sizes = [4, 4]", {"two cases are named", "/n:4/"});
  expect(small + "sizes = [4", {"study.toml:4: `sizes`"});
  expect("algorithm = \"softmax_regression\"\nlearning_rate = 0",
         {"study.toml:2: `learning_rate`", "is 0: it takes a finite number above 0 and up to 1e+06"});
  expect("algorithm = \"linear_regression\"\nnoise = -1",
         {"study.toml:2: `noise`", "is -1: it takes a finite number from 0 on"});
  expect("algorithm = \"knn\"\nk = 0", {"study.toml:2: `k`", "is 0: it must lie in 1 to"});
  expect("typo = 1\n[[cases]]\n" + small, {"study.toml:1: `typo`"});
}

TEST_F(StudyTest, SettingsThatNobodyTakesAreErrors) {
  EXPECT_NE(refusal(small, {"sampels=3"}).find("--set sampels=3: `sampels`"), std::string::npos);
  EXPECT_NE(refusal(small, {"knn.k=3"}).find("`knn.k`"), std::string::npos);
  EXPECT_THROW(read_assignment("samples"), BadInput);
  EXPECT_THROW(read_assignment("=3"), BadInput);
  EXPECT_THROW(read_assignment("samples=[1"), BadInput);
}

/// An algorithm with a real parameter, in no registry.
class RealParameter : public ::testing::Test {
 protected:
  std::vector<std::string> values(const std::string& text) {
    const Settings settings{&algorithm_, read_toml(folder_.write("study.toml", text))};
    return Axes(settings).parameter(algorithm_.parameters.front());
  }
  std::string name(const std::string& value) {
    Case that{.algorithm = &algorithm_, .method = &algorithm_.methods.front(), .model = "serial"};
    that.parameters.values["learning_rate"] = values("learning_rate = " + value).front();
    give_names(that);
    return that.name;
  }
  std::string refusal(const std::string& value) {
    try {
      return values("# a rate\nlearning_rate = " + value).front();
    } catch (const BadInput& error) {
      const std::string message = error.what();
      return message.substr(message.find("study.toml"));
    }
  }

  TemporaryFolder folder_;
  Algorithm algorithm_{.name = "descent",
                       .parameters = {{.name = "learning_rate",
                                       .kind = Parameter::Kind::real,
                                       .default_value = "1e-3",
                                       .interval = {.min = 0, .max = 100}}},
                       .methods = {{.name = "fused"}},
                       .make = {}};
};

TEST_F(RealParameter, TakesNumbersOfBothKinds) {
  EXPECT_EQ(values("samples = 3"), std::vector<std::string>{"1e-3"});
  EXPECT_EQ(values("learning_rate = [0.5, 2, 1e-7, 100, 0, -0.0, 0.1]"),
            (std::vector<std::string>{"0.5", "2", "1e-07", "100", "0", "0", "0.1"}));
  const Assignment set = read_assignment("learning_rate=0.25,1e-2,3");
  const Settings settings{&algorithm_, {{set.key, set.value}}};
  EXPECT_EQ(Axes(settings).parameter(algorithm_.parameters.front()), (std::vector<std::string>{"0.25", "0.01", "3"}));
}

TEST_F(RealParameter, IsInTheNameUnlessItIsTheDefault) {
  EXPECT_EQ(name("0.0010"), "descent/method:fused/model:serial/dtype:f32/devices:1/launch:auto");
  EXPECT_EQ(name("0.30000000000000004"),
            "descent/method:fused/model:serial/dtype:f32/learning_rate:0.30000000000000004/devices:1/launch:auto");
  EXPECT_EQ(name("2"), "descent/method:fused/model:serial/dtype:f32/learning_rate:2/devices:1/launch:auto");
}

TEST_F(RealParameter, ReadsBackAsTheSameNumber) {
  for (const char* text : {"0.1", "4.9e-324", "99.99999999999999", "3"}) {
    const Parameters parameters{{{"learning_rate", values(std::string("learning_rate = ") + text).front()}}};
    EXPECT_EQ(parameters.real("learning_rate"), std::strtod(text, nullptr)) << text;
  }
}

TEST_F(RealParameter, IsFiniteAndWithinItsBounds) {
  const std::string place = "study.toml:2: `learning_rate` ", takes = "takes a finite number from 0 to 100";
  EXPECT_EQ(refusal("nan"), place + "is nan: it " + takes);
  EXPECT_EQ(refusal("-inf"), place + "is -inf: it " + takes);
  EXPECT_EQ(refusal("-0.5"), place + "is -0.5: it " + takes);
  EXPECT_EQ(refusal("101"), place + "is 101: it " + takes);
  EXPECT_EQ(refusal("\"fast\""), place + takes + ", not a string");
  EXPECT_EQ(refusal("[]"), place + "is an empty list: name at least one value, or leave the key out");
}

TEST_F(RealParameter, MayHaveOpenEnds) {
  algorithm_.parameters.front().interval = {.min = 0, .max = 100, .open_min = true};
  EXPECT_EQ(values("learning_rate = [4.9e-324, 100]"), (std::vector<std::string>{"5e-324", "100"}));
  const std::string place = "study.toml:2: `learning_rate` ", takes = "takes a finite number above 0 and up to 100";
  EXPECT_EQ(refusal("0"), place + "is 0: it " + takes);
  EXPECT_EQ(refusal("-0.0"), place + "is 0: it " + takes);
  EXPECT_EQ(refusal("inf"), place + "is inf: it " + takes);
  EXPECT_EQ(refusal("true"), place + takes + ", not a boolean");
}

}  // namespace
}  // namespace league::bench
