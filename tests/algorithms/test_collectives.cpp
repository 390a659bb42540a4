// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "algorithms/collectives/collectives.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/measure.hpp"
#include "tests/algorithms/edge_case.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

namespace league {
namespace {

using Values = std::map<std::string, std::string>;

Making making(const char* operation, std::int64_t bytes, int shards, Dtype dtype = Dtype::f32,
              const Values& values = {}) {
  Parameters parameters{{{"bytes", std::to_string(bytes)}, {"repeats", "3"}, {"order", "any"}}};
  for (const auto& [key, value] : values) parameters.values[key] = value;
  return {parameters, dtype, 11, nullptr, operation, shards};
}

std::unique_ptr<Collectives> make(const Making& making) {
  auto problem = std::make_unique<Collectives>(making);
  problem->make_inputs({0, problem->shards}, tests::runtime().host_memory());
  return problem;
}

std::vector<const Variant*> variants_of(const char* operation, int devices) {
  return tests::variants<Collectives>(
      [=](const Variant& variant) { return variant.method == operation && tests::has_devices(variant, devices); });
}

/// Expected values of shard `shard` after a repeat, in plain loops.
template <class T>
std::vector<T> expected_of(const Collectives& problem, int shard, std::int64_t repeat) {
  const auto n = static_cast<std::size_t>(problem.n), first = static_cast<std::size_t>(repeat);
  const auto sent = [&](int from) { return problem.sent_by<T>(from).subspan(first, n); };
  std::vector<T> expected(n, T{0});
  if (std::string(collectives::name(problem.operation)) == "exchange") {
    const auto before = sent((shard + problem.shards - 1) % problem.shards), next = sent((shard + 1) % problem.shards);
    const std::size_t lower = (n + 1) / 2;
    std::ranges::copy(before.subspan(lower), expected.begin());
    std::ranges::copy(next.first(lower), expected.begin() + static_cast<std::ptrdiff_t>(n - lower));
    return expected;
  }
  int owner = 0;
  for (std::size_t i = 0; i < n; ++i) {
    while (static_cast<std::int64_t>(i) >= piece_of(problem.n, problem.shards, owner).end) ++owner;
    const bool own = problem.operation != Collectives::Operation::reduce_scatter || owner == shard;
    if (problem.adds() && own)
      for (int from = 0; from < problem.shards; ++from) expected[i] += sent(from)[i];
    if (problem.operation == Collectives::Operation::all_gather) expected[i] = sent(owner)[i];
    if (problem.operation == Collectives::Operation::broadcast) expected[i] = sent(0)[i];
  }
  return expected;
}

/// All variants of a collective on `devices` devices, in every execution, twice; `near` in units of the last place.
template <class T>
int compare(const Collectives& problem, double near) {
  int ran = 0;
  for (const Variant* variant : variants_of(collectives::name(problem.operation), problem.shards))
    for (const Execution execution : variant->executions) {
      SCOPED_TRACE(tests::name_of(*variant) + " " + std::string(name(execution)));
      tests::Solved solved(*variant, problem, {.devices = problem.shards, .execution = execution});
      solved.again();
      const std::vector<T> values = solved.values<T>(0);
      auto value = values.begin();
      for (int shard = 0; shard < problem.shards; ++shard)
        for (int repeat = 0; repeat < problem.repeats; ++repeat)
          for (const T expected : expected_of<T>(problem, shard, repeat))
            EXPECT_NEAR(*value++, expected, near * std::numeric_limits<T>::epsilon()) << shard << ", " << repeat;
      EXPECT_EQ(value, values.end());
      ++ran;
    }
  return ran;
}

TEST(Collectives, LeaveWhatPlainLoopsDo) {
  int ran = 0;
  for (const char* operation : collectives::names)
    for (const int shards : {2, 3, 5})
      for (const std::int64_t n : {0, 1, 2, 3, 7, 31, 1024}) {
        SCOPED_TRACE(std::string(operation) + " of " + std::to_string(n) + " on " + std::to_string(shards));
        ran += compare<float>(*make(making(operation, 4 * n, shards)), shards);
        ran += compare<double>(*make(making(operation, 8 * n, shards, Dtype::f64)), shards);
      }
  EXPECT_GE(ran, 2 * 5 * 3 * 7);
}

TEST(Collectives, OrderedSumsOweEveryBit) {
  const Values ordered{{"order", "ordered"}};
  int ran = 0;
  for (const char* operation : {"all_reduce", "reduce_scatter"})
    for (const int shards : {2, 3, 5}) {
      ran += compare<float>(*make(making(operation, 4 * 517, shards, Dtype::f32, ordered)), 0);
      ran += compare<double>(*make(making(operation, 8 * 517, shards, Dtype::f64, ordered)), 0);
    }
  EXPECT_GE(ran, 12);
}

TEST(Collectives, CostIsWhatNcclTestsCallBusBandwidth) {
  const auto bus_bytes = [](const char* operation, std::int64_t bytes, int shards, Dtype dtype = Dtype::f32) {
    return Collectives(making(operation, bytes, shards, dtype)).cost().bytes;
  };
  EXPECT_DOUBLE_EQ(bus_bytes("all_reduce", 1024, 4), 1536);
  EXPECT_DOUBLE_EQ(bus_bytes("reduce_scatter", 1024, 4), 768);
  EXPECT_DOUBLE_EQ(bus_bytes("all_gather", 1024, 4), 768);
  EXPECT_DOUBLE_EQ(bus_bytes("broadcast", 1024, 4), 1024);
  EXPECT_DOUBLE_EQ(bus_bytes("exchange", 1024, 4), 1024);
  EXPECT_DOUBLE_EQ(bus_bytes("all_reduce", 1024, 2), 1024);
  EXPECT_DOUBLE_EQ(bus_bytes("broadcast", 1023, 2, Dtype::f64), 1016) << "whole values";
}

TEST(Collectives, RepeatsFillHalfAGigabyteAtMost) {
  const auto repeats = [](std::int64_t bytes, const char* wanted) {
    return Collectives(making("broadcast", bytes, 2, Dtype::f32, {{"repeats", wanted}})).repeats;
  };
  EXPECT_EQ(repeats(0, "0"), 100);
  EXPECT_EQ(repeats(8, "0"), 100);
  EXPECT_EQ(repeats(std::int64_t{64} << 20, "0"), 8);
  EXPECT_EQ(repeats(std::int64_t{1} << 30, "0"), 1);
  EXPECT_EQ(repeats(8, "7"), 7);
  EXPECT_EQ(repeats(8, "1000"), 1000);
  EXPECT_EQ(repeats(std::int64_t{256} << 20, "200"), 2);
}

TEST(Collectives, SendOtherValuesFromEachShardInEachRepeat) {
  const auto problem = make(making("all_reduce", 4 * 50, 3));
  std::set<float> seen;
  for (int shard = 0; shard < 3; ++shard)
    for (const float value : problem->sent_by<float>(shard)) seen.insert(value);
  EXPECT_EQ(seen.size(), 3U * 52);
  auto part = std::make_unique<Collectives>(making("all_reduce", 4 * 50, 3));
  part->make_inputs({1, 3}, tests::runtime().host_memory());
  EXPECT_TRUE(std::ranges::equal(part->sent_by<float>(2), problem->sent_by<float>(2))) << "on any number of shards";
}

/// A wrong value of any shard and repeat is found, also outside of the own piece of a reduce-scatter.
TEST(Collectives, CheckFindsOneWrongValue) {
  for (const char* operation : collectives::names) {
    const auto problem = make(making(operation, 4 * 11, 3));
    tests::Solved solved(*registry().variant("collectives", operation, "openmp"), *problem, {.devices = 3});
    EXPECT_TRUE(problem->check_alone(solved.results).passed()) << problem->check_alone(solved.results).message;
    const auto values = solved.results.at(0).values.values<float>();
    ASSERT_EQ(values.size(), 3U * 3 * 11);
    for (float& value : values) {
      const float right = value;
      for (const float wrong : {right + 2e-6F, std::nanf("")}) {
        value = wrong;
        EXPECT_FALSE(problem->check_alone(solved.results).passed())
            << operation << ", value " << &value - values.data();
      }
      value = right;
    }
  }
}

TEST(Collectives, RefuseByName) {
  const auto problem = make(making("all_reduce", std::int64_t{40} << 20, 2)), one = make(making("broadcast", 8, 1));
  for (const Variant* variant : variants_of("all_reduce", 2)) {
    SCOPED_TRACE(tests::name_of(*variant));
    const auto refusal = [&](const Collectives& what, const tests::Setting& setting) -> std::string {
      try {
        tests::Solved(*variant, what, setting);
      } catch (const Unsupported& reason) {
        return reason.what();
      }
      return "accepted";
    };
    EXPECT_EQ(refusal(*one, {}), "a collective needs at least two devices");
    EXPECT_EQ(refusal(*problem, {.devices = 2, .budget = 100'000'000}), "needs 126 MB, budget 100 MB");
    EXPECT_EQ(refusal(*problem, {.devices = 2, .launch = {.team = 2}}), "the communicator chooses its own launch");
    EXPECT_EQ(refusal(*problem, {.devices = 2}), "accepted");
  }
}

/// Reported times are per repeat: samples, and stages of a trace, which cannot exceed the sample.
TEST(Collectives, AreReportedOneByOne) {
  constexpr int repeats = 50;
  bench::Datasets datasets({}, tests::runtime().host_memory());
  const Algorithm& algorithm = *registry().algorithm(Collectives::algorithm);
  bench::Case that = tests::edge_case(algorithm, algorithm.methods.front(), Dtype::f32,
                                      {{"bytes", "40000"}, {"repeats", std::to_string(repeats)}});
  that.model = "openmp", that.devices = 2;
  if (registry().variant(algorithm.name, that.method->name, that.model) == nullptr) GTEST_SKIP() << "no openmp";
  const auto problem = bench::make_problem(that, tests::runtime(), datasets);
  bench::PreparedCase prepared_case(that, *problem, tests::runtime(), std::int64_t{1} << 30);
  bench::Trace trace;
  const bench::Checked checked = bench::check_traced(prepared_case, trace);
  bench::Meter meter(prepared_case, checked.compute_s);
  for (const bench::Trace& found : {trace, meter.trace()}) {
    double whole[2] = {};
    for (const bench::Event& event : found.timeline) whole[event.device] += event.end_s - event.begin_s;
    EXPECT_EQ(found.timeline.size(), 2U * repeats);
    EXPECT_NEAR(found.stages.at("all_reduce"), std::max(whole[0], whole[1]) / repeats, 1e-9);
  }
  const bench::Stopwatch watch;
  const double sample = meter.sample(1);
  EXPECT_LT(sample * repeats, watch.seconds());
  EXPECT_EQ(meter.batch_needed(), 1) << "an in-place sum overwrites its inputs";
}

}  // namespace
}  // namespace league
