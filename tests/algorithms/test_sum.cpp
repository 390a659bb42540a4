// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "algorithms/sum/common/lanes.hpp"
#include "algorithms/sum/sum.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

namespace league {
namespace {

constexpr std::array dtypes{Dtype::f32, Dtype::f64, Dtype::i32};

Reduce alone;

Sum make(std::int64_t n, Dtype dtype, const char* values = "uniform", int chunk_kib = 0) {
  const Parameters parameters{{{"n", std::to_string(n)}, {"chunk", std::to_string(chunk_kib)}, {"values", values}}};
  Sum problem(Making{parameters, dtype, 5, nullptr, ""});
  problem.make_inputs({0, problem.extent()}, tests::runtime().host_memory());
  return problem;
}

int max_devices(const Variant& variant) {
  return variant.model.device == DeviceKind::host ? 3 : std::min(3, static_cast<int>(tests::runtime().gpus().size()));
}

struct Solved : tests::Solved {
  using tests::Solved::Solved;
  template <class T>
  [[nodiscard]] T value() const {
    return values<T>(0).front();
  }
};

/// Runs all variants on one to three devices; each result is passed to `expect`.
template <class Expect>
void everywhere(const Sum& problem, const Expect& expect) {
  for (const Variant* variant : tests::variants<Sum>())
    for (int devices = 1; devices <= max_devices(*variant); ++devices) {
      SCOPED_TRACE(tests::name_of(*variant) + " " + std::string(name(problem.dtype)) +
                   ", n = " + std::to_string(problem.n) + " on " + std::to_string(devices));
      const Solved run(*variant, problem, {.devices = devices});
      const Verdict verdict = problem.check_alone(*run.outputs);
      EXPECT_TRUE(verdict.passed()) << verdict.message;
      EXPECT_LE(verdict.worst, 1);
      expect(run);
    }
}

TEST(Sum, OfNothingAndOfRemainders) {
  for (const Dtype dtype : dtypes) {
    const std::int64_t chunk = make(0, dtype).chunk;
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, chunk - 1, chunk, chunk + 1, 2 * chunk, 5 * chunk + 17})
      everywhere(make(n, dtype, n % 2 == 0 ? "uniform" : "signed"), [](const Solved&) {});
  }
  everywhere(make(0, Dtype::f64), [](const Solved& run) { EXPECT_EQ(run.value<double>(), 0); });
}

TEST(Sum, ChunksDependOnTheSizeAlone) {
  EXPECT_EQ(make(0, Dtype::f32).extent(), 0);
  EXPECT_EQ(make(1, Dtype::f32).extent(), 1);
  EXPECT_EQ(make(4096, Dtype::f32).extent(), 1);
  EXPECT_EQ(make(4097, Dtype::f32).extent(), 2);
  EXPECT_EQ(make(4097, Dtype::f64).extent(), 3);
  EXPECT_EQ(make(100'000, Dtype::f32, "uniform", 64).chunk, 16384);
  EXPECT_THROW(make(1, Dtype::f32, "uniform", 15), std::invalid_argument);
  const Sum problem = make(10'000, Dtype::f64);
  EXPECT_EQ(problem.elements({1, 3}), (Range{2048, 6144}));
  EXPECT_EQ(problem.elements({4, 5}), (Range{8192, 10'000}));
  EXPECT_EQ(problem.elements({5, 5}).size(), 0);
  // Sizes beyond 32 bits, without allocating them.
  EXPECT_EQ(sum::chunk_elements(std::int64_t{1} << 30, Dtype::f32), 32768);
  EXPECT_EQ(sum::chunk_elements(std::int64_t{1} << 36, Dtype::f64), 262144);
  const sum::Chunks chunks{.count = (std::int64_t{1} << 33) / 1000 + 1, .size = std::int64_t{1} << 33, .chunk = 1000};
  EXPECT_EQ(chunks.size_of(0), 1000);
  EXPECT_EQ(chunks.size_of(chunks.count - 1), (std::int64_t{1} << 33) % 1000);
}

/// The lanes of GPU and host kernels, one after another.
TEST(Sum, EveryElementIsAddedOnceByWhateverLanes) {
  const Sum problem = make(1300, Dtype::i32, "signed");
  const auto values = problem.x.values<const std::int32_t>();
  for (const int lanes : {1, 2, 3, 32, 64, 256})
    for (int size = 0; size <= 1300; size += size < 140 ? 1 : 29) {
      std::int64_t expected = 0, on_gpu = 0, on_host = 0;
      for (int i = 0; i < size; ++i) expected += values[static_cast<std::size_t>(i)];
      for (int lane = 0; lane < lanes; ++lane) {
        on_gpu += sum::lane_sum(values.data(), size, lane, lanes);
        on_host += sum::host_lane_sum(values.data(), size, lane, lanes);
      }
      EXPECT_EQ(on_gpu, expected) << size << " over " << lanes;
      EXPECT_EQ(on_host, expected) << size << " over " << lanes;
    }
}

/// Numbers of very different magnitudes, whose sum depends on the order.
template <class T>
Sum uneven(Dtype dtype) {
  Sum problem = make(300'007, dtype, "signed");
  int exponent = 0;
  for (T& value : problem.x.values<T>()) value = std::ldexp(value, exponent = (exponent + 7) % 20);
  return problem;
}

/// All elements, one after another, from the first or from the last.
template <class T>
double in_turn(const Sum& problem, bool from_last) {
  const auto values = problem.x.values<const T>();
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += static_cast<double>(values[from_last ? values.size() - 1 - i : i]);
  return sum;
}

TEST(Sum, TwoStageHasTheSameBitsOnAnyNumberOfDevices) {
  const auto two_stage = [](const Variant& variant) { return variant.method == "two_stage"; };
  const auto expect_same = [&](const Sum& problem) {
    for (const Variant* variant : tests::variants<Sum>(two_stage)) {
      SCOPED_TRACE(std::string(variant->model.name) + " " + std::string(name(problem.dtype)));
      const auto one = std::bit_cast<std::uint64_t>(Solved(*variant, problem).value<double>());
      for (int devices = 2; devices <= max_devices(*variant); ++devices)
        EXPECT_EQ(std::bit_cast<std::uint64_t>(Solved(*variant, problem, {.devices = devices}).value<double>()), one)
            << devices;
    }
  };
  const Sum in_double = uneven<double>(Dtype::f64);
  ASSERT_NE(in_turn<double>(in_double, false), in_turn<double>(in_double, true)) << "any order gives the same bits";
  expect_same(in_double);
  expect_same(uneven<float>(Dtype::f32));
}

TEST(Sum, CancellationIsHeldToTheSumOfMagnitudes) {
  Sum problem = make(100'000, Dtype::f64);
  const auto values = problem.x.values<double>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (i % 2 == 0 ? 1e15 : -1e15) + (i == 77'777 ? 1000 : 0);
  Outputs exact = problem.make_outputs({0, problem.extent()}, tests::runtime().host_memory());
  exact[0].values.values<double>()[0] = 1000;
  EXPECT_EQ(problem.check_alone(exact).worst, 0) << "the oracle loses digits";
  const double bound = problem.bound("", alone);
  EXPECT_GT(bound, 1000);  // no claim about the difference
  EXPECT_LT(bound, 1e20 * 1e-12);
  everywhere(problem, [&](const Solved& run) { EXPECT_NEAR(run.value<double>(), 1000, bound); });
}

TEST(Sum, IntegersAreExact) {
  for (const std::int32_t extreme :
       {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    Sum problem = make(70'001, Dtype::i32);
    std::ranges::fill(problem.x.values<std::int32_t>(), extreme);
    everywhere(problem,
               [&](const Solved& run) { EXPECT_EQ(run.value<std::int64_t>(), std::int64_t{70'001} * extreme); });
  }
}

TEST(Sum, BoundFollowsTheArithmetic) {
  Sum problem = make(1000, Dtype::f32);
  std::ranges::fill(problem.x.values<float>(), 1.0F);
  const double in_float = sum::float_additions * 0x1p-24 * 1000, in_double = 1002 * 0x1p-53 * 1000;
  EXPECT_NEAR(problem.bound("", alone), in_float + in_double, 1e-6 * in_float);
  EXPECT_NEAR(problem.bound(Sum::any_order, alone), in_double, 1e-6 * in_double);
}

TEST(Sum, WhatIsWrongFails) {
  for (const Dtype dtype : dtypes) {
    const Sum problem = make(100'000, dtype);
    Outputs outputs = problem.make_outputs({0, problem.extent()}, tests::runtime().host_memory());
    std::ranges::fill(outputs[0].values.bytes(), std::byte{0xff});
    EXPECT_FALSE(problem.check_alone(outputs).passed()) << "poison";
    if (dtype == Dtype::i32) {
      std::int64_t sum = 0;
      for (const std::int32_t value : problem.x.values<const std::int32_t>()) sum += value;
      outputs[0].values.values<std::int64_t>()[0] = sum;
      EXPECT_TRUE(problem.check_alone(outputs).passed());
      ++outputs[0].values.values<std::int64_t>()[0];
    } else {
      const double sum = dtype == Dtype::f32 ? in_turn<float>(problem, true) : in_turn<double>(problem, true);
      outputs[0].values.values<double>()[0] = sum;
      EXPECT_TRUE(problem.check_alone(outputs).passed());
      outputs[0].values.values<double>()[0] = sum + 2 * problem.bound("", alone);
    }
    const Verdict verdict = problem.check_alone(outputs);
    EXPECT_FALSE(verdict.passed());
    EXPECT_NE(verdict.message.find("sum[0] is"), std::string::npos) << verdict.message;
  }
}

TEST(Sum, AMissingChunkFails) {
  const auto last_missing = [](std::vector<Shard>& shards) { --shards.back().rows.end; };
  const auto border_late = [](std::vector<Shard>& shards) { ++shards.back().rows.begin; };
  for (const Dtype dtype : dtypes) {
    const Sum problem = make(100'000, dtype);
    for (const Variant* variant : tests::variants<Sum>())
      for (int devices = 1; devices <= max_devices(*variant); ++devices) {
        SCOPED_TRACE(tests::name_of(*variant));
        EXPECT_FALSE(
            problem.check_alone(*Solved(*variant, problem, {.devices = devices, .change = last_missing}).outputs)
                .passed());
        EXPECT_FALSE(
            problem.check_alone(*Solved(*variant, problem, {.devices = devices, .change = border_late}).outputs)
                .passed());
      }
  }
}

}  // namespace
}  // namespace league
