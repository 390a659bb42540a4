// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <map>

#include "backends/model.hpp"
#include "bench/data/dataset.hpp"
#include "bench/measure/check.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/study/models.hpp"
#include "tests/algorithms/edge_case.hpp"
#include "tests/runtime.hpp"

// Every variant that this machine can run, on every small problem, type and number of devices, against the oracle; of
// the requested launches, several devices take every other one, and with LEAGUE_NIGHTLY all, twice.
namespace league::bench {
namespace {

/// Launches to request; unsupported ones must be refused with a reason. Naive methods take teams of one thread on a
/// host: there is little to vary.
std::vector<Launch> launches(DeviceKind kind, bool naive) {
  if (kind == DeviceKind::host && naive) return {{}, {.league = 3, .team = 1}, {.team = 2}};
  if (kind == DeviceKind::host)
    return {{}, {.league = 1}, {.league = 3, .team = 1}, {.team = 2}, {.league = 2, .tile = 2147483647}};
  return {{},
          {.league = 1},
          {.league = 3, .team = 64},
          {.team = 2},
          {.team = 128},
          {.team = 1024},
          {.team = 1, .vector = 32},
          {.league = 40, .team = 256},
          {.team = 64, .vector = 2},
          {.team = 32, .vector = 4}};
}

const bool nightly = std::getenv("LEAGUE_NIGHTLY") != nullptr;

struct Count {
  int ran = 0, refused = 0, with_launch = 0;
};

/// Null of a variant that the fault tests have planted.
const Method* method_of(const Variant& variant) {
  const std::vector<Method>& methods = registry().algorithm(variant.algorithm)->methods;
  const auto method = std::ranges::find(methods, variant.method, &Method::name);
  return method == methods.end() ? nullptr : &*method;
}

Availability here(const Variant& variant, const Method& method) {
  return availability(tests::runtime(), *registry().algorithm(variant.algorithm), method, variant.model.name);
}

class Variants : public ::testing::TestWithParam<std::size_t> {
 protected:
  Variants() : runtime_(tests::runtime()), datasets_({}, runtime_.host_memory()) {}
  void SetUp() override {
    if (method_ == nullptr) GTEST_SKIP() << "planted by the fault tests";
    const Availability available = here(variant_, *method_);
    if (available.state != State::ready) GTEST_SKIP() << available.reason;
    ASSERT_FALSE(algorithm_.edge_cases.empty()) << "no small problems";
  }

  void run_one(Case& that, const Problem& problem, Count& count) {
    give_names(that);
    SCOPED_TRACE(that.name);
    try {
      PreparedCase prepared_case(that, problem, runtime_, std::int64_t{1} << 30);
      Stages stages;
      const Verdict verdict = check_fresh(prepared_case, stages).verdict;
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      if (that.launch == Launch{} || nightly) {
        EXPECT_TRUE(check_fresh(prepared_case, stages).verdict.passed()) << "the second time";
      }
      ++count.ran;
      if (that.launch != Launch{}) ++count.with_launch;
      expect_honoured(that, prepared_case.launch());
      expect_work(that, problem, prepared_case.launch());
    } catch (const Unsupported& refused) {
      EXPECT_STRNE(refused.what(), "");
      ++count.refused;
    }
  }

  /// Portable and GPU kernels use the requested launch; others only its threads.
  static void expect_honoured(const Case& that, Launch effective) {
    const ModelFacts* facts = model_facts(that.model);
    if (facts != nullptr && facts->own && !facts->portable && facts->device == DeviceKind::host) return;
    const auto expect = [](int wanted, int got, const char* what) {
      EXPECT_TRUE(wanted == 0 || wanted == got) << what << ": " << got << " for " << wanted;
    };
    expect(that.launch.league, effective.league, "league");
    expect(that.launch.team, effective.team, "team");
    expect(that.launch.vector, effective.vector, "vector");
  }

  /// The automatic launch is within the limits; on a host, so is one team per thread.
  void expect_work(const Case& that, const Problem& problem, Launch effective) const {
    if (that.launch != Launch{}) return;
    EXPECT_LE(effective.league, std::max<std::int64_t>(problem.max_teams(), runtime_.host_threads()));
  }

  const Variant& variant_ = registry().variants[GetParam()];
  const Algorithm& algorithm_ = *registry().algorithm(variant_.algorithm);
  const Method* method_ = method_of(variant_);
  Runtime& runtime_;
  Datasets datasets_;
};

TEST(VariantsHere, SomeAreReady) {
  EXPECT_TRUE(std::ranges::any_of(registry().variants, [](const Variant& variant) {
    const Method* method = method_of(variant);
    return method != nullptr && here(variant, *method).state == State::ready;
  }));
}

TEST_P(Variants, AgreesWithTheOracleEverywhere) {
  const int limit = std::min(3, max_devices(runtime_, variant_.model.device));
  if (algorithm_.between_shards && limit < 2) GTEST_SKIP() << "takes two devices";
  for (const Dtype dtype : method_->dtypes) {
    Count count;
    for (const auto& values : algorithm_.edge_cases) {
      Case that = tests::edge_case(algorithm_, *method_, dtype, values);
      that.model = variant_.model.name;
      std::unique_ptr<Problem> problem;
      for (that.devices = 1; that.devices <= limit; ++that.devices) {
        if (!problem || algorithm_.between_shards) problem = make_problem(that, runtime_, datasets_);
        const std::vector<Launch> requested = launches(variant_.model.device, method_->naive);
        for (std::size_t i = 0; i < requested.size(); ++i) {
          const bool in_turn = that.devices == 1 || (static_cast<int>(i) + that.devices) % 2 == 0;
          if (i > 0 && !in_turn && !nightly) continue;  // the first is the automatic one
          that.launch = requested[i];
          for (const Execution execution : variant_.executions) {
            that.execution = execution;
            run_one(that, *problem, count);
          }
        }
      }
    }
    EXPECT_GE(count.ran, static_cast<int>(algorithm_.edge_cases.size())) << name(dtype) << " ran on too few problems";
    std::cout << name(dtype) << ": " << count.ran << " ran, " << count.refused << " refused by name\n";
  }
}

TEST_P(Variants, ComputesWithOneLaunchWhileOthersAreConfigured) {
  if (algorithm_.between_shards) GTEST_SKIP() << "takes two devices";
  Case that = tests::edge_case(algorithm_, *method_, method_->dtypes.front(), algorithm_.edge_cases.front());
  that.model = variant_.model.name;
  const std::unique_ptr<Problem> problem = make_problem(that, runtime_, datasets_);
  std::vector<Launch> requested = launches(variant_.model.device, method_->naive);
  requested.emplace_back();  // the last one configured is small: what a kernel allows is for the largest of all
  std::deque<Case> cases;
  std::deque<PreparedCase> configured;
  const auto unless_refused = [](const auto& step) {  // AgreesWithTheOracleEverywhere looks at the reasons
    try {
      step();
    } catch (const Unsupported&) {
    }
  };
  for (const Launch launch : requested) {
    cases.push_back(that);
    cases.back().launch = launch;
    give_names(cases.back());
    unless_refused([&] { configured.emplace_back(cases.back(), *problem, runtime_, std::int64_t{1} << 30); });
  }
  EXPECT_FALSE(configured.empty());
  Stages stages;
  for (PreparedCase& one : configured)
    unless_refused([&] {
      const Verdict verdict = check_fresh(one, stages).verdict;
      EXPECT_TRUE(verdict.passed()) << one.of().name << ": " << verdict.message;
    });
}

std::string name_of(const ::testing::TestParamInfo<std::size_t>& one) {
  const Variant& variant = registry().variants[one.param];
  return variant.algorithm + "_" + variant.method + "_" + std::string(variant.model.name);
}
INSTANTIATE_TEST_SUITE_P(All, Variants, ::testing::Range(std::size_t{0}, registry().variants.size()), name_of);

}  // namespace
}  // namespace league::bench
