// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/errors.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/measure.hpp"
#include "bench/measure/sampling.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

TEST(Measure, TheMedianIsTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Measure, LongRunsHaveFewSamples) {
  EXPECT_EQ(samples_for(10, 0.5), 10);
  EXPECT_EQ(samples_for(10, 3), 10);
  EXPECT_EQ(samples_for(10, 4), 3);
  EXPECT_EQ(samples_for(2, 4), 2);
  EXPECT_EQ(samples_for(10, 25), 2);
  EXPECT_EQ(samples_for(10, 400), 1);
}

TEST(HostMemory, ThatIsNotThereIsSaidInBytes) {
  const HostArray kept(*std::pmr::new_delete_resource(), Dtype::f32, {50'000});
  const auto step = [] {
    const HostArray first(*std::pmr::new_delete_resource(), Dtype::f32, {1'000});
    const HostArray second(*std::pmr::null_memory_resource(), Dtype::f64, {2'000});
  };
  Result result;
  EXPECT_FALSE(attempt(result, step));
  EXPECT_EQ(result.status, Status::skipped);
  EXPECT_TRUE(result.reason.starts_with("out of host memory: needs at least 20 KB, ")) << result.reason;
  EXPECT_TRUE(result.reason.ends_with(" are free")) << result.reason;
  EXPECT_FALSE(attempt(result, [] { throw std::bad_alloc(); }));
  EXPECT_EQ(result.reason.find("needs"), std::string::npos) << result.reason;
}

class SamplerTest : public ::testing::Test {
 protected:
  static Sampler& sampler() {
    static Sampler one;
    return one;
  }
};

TEST_F(SamplerTest, DrawsWhatWasAskedForInTurn) {
  std::string order;
  const auto draw = [&](char name) {
    return [&order, name] {
      order += name;
      return 1e-3 * static_cast<double>(std::ranges::count(order, name));
    };
  };
  const std::vector<Drawn> drawn = sampler().sample({{"a/b:1", 20, draw('a')}, {"c", 30, draw('c')}});
  ASSERT_EQ(drawn[0].samples.size(), 20U);
  ASSERT_EQ(drawn[1].samples.size(), 30U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_DOUBLE_EQ(drawn[0].samples[i], 1e-3 * static_cast<double>(i + 1));
  EXPECT_FALSE(order.starts_with(std::string(20, 'a'))) << order;
  EXPECT_FALSE(order.ends_with(std::string(20, 'a'))) << order;
}

TEST_F(SamplerTest, AnErrorEndsOnlyItsOwnCase) {
  int calls = 0;
  const std::vector<Drawn> drawn = sampler().sample({{"bad", 5,
                                                      [&]() -> double {
                                                        ++calls;
                                                        throw std::runtime_error("broken");
                                                      }},
                                                     {"good", 5, [] { return 1.0; }}});
  EXPECT_EQ(drawn[0].error, "broken");
  EXPECT_TRUE(drawn[0].samples.empty());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(drawn[1].samples, std::vector<double>(5, 1.0));
}

TEST_F(SamplerTest, AnInterruptEndsAll) {
  int calls = 0;
  EXPECT_THROW(sampler().sample({{"a", 5,
                                  [&]() -> double {
                                    ++calls;
                                    throw Interrupted();
                                  }}}),
               Interrupted);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sampler().sample({{"a", 2, [] { return 1.0; }}}).at(0).samples.size(), 2U);
}

/// A traced first compute of a plain addition, and another one as samples are measured; and how long the first took.
struct Traced {
  std::vector<Trace> traces;
  double whole_s = 0;
};
Traced trace_addition(const std::string& model, int devices) {
  Runtime& runtime = tests::runtime();
  Datasets datasets({}, runtime.host_memory());
  const Algorithm& algorithm = *registry().algorithm("vector_add");
  Case that{.algorithm = &algorithm, .method = &algorithm.methods.front(), .model = model, .devices = devices};
  for (const Parameter& parameter : algorithm.parameters)
    that.parameters.values[parameter.name] = parameter.default_value;
  that.parameters.values["n"] = "3000000";
  const auto problem = make_problem(that, runtime, datasets);
  PreparedCase prepared_case(that, *problem, runtime, std::int64_t{1} << 30);
  Traced traced{.traces = std::vector<Trace>(1)};
  const Stopwatch watch;
  const Checked checked = check_traced(prepared_case, traced.traces.front());
  traced.whole_s = watch.seconds();
  EXPECT_TRUE(checked.verdict.passed()) << checked.verdict.message;
  traced.traces.push_back(Meter(prepared_case, checked.compute_s).trace());
  return traced;
}

TEST(Measure, ATimelineHasAllStagesOfAllDevices) {
  for (const Trace& trace : trace_addition("serial", 3).traces) {
    ASSERT_EQ(trace.timeline.size(), 3U);
    const auto& [stage, stage_s] = *trace.stages.begin();
    double before_s = 0, found_s = 0;
    for (int device = 0; device < 3; ++device) {
      const Event& event = trace.timeline[static_cast<std::size_t>(device)];
      const double length_s = event.end_s - event.begin_s;
      EXPECT_EQ(event.device, device);
      EXPECT_EQ(event.stage, stage);
      EXPECT_GT(length_s, 0);
      // Host devices run one after another; their clocks are tied less sharply than that.
      EXPECT_GE(event.begin_s, before_s - length_s / 2);
      before_s = event.end_s;
      found_s = std::max(found_s, length_s);
    }
    EXPECT_NEAR(stage_s, found_s, 1e-12);
  }
}

TEST(Measure, ATimelineBeginsWithTheComputeAndEndsWithIt) {
  const int gpus = registry().variant("vector_add", "plain", "cuda") == nullptr
                       ? 0
                       : static_cast<int>(tests::runtime().gpus().size());
  for (const auto& [model, devices] : {std::pair("serial", 2), std::pair("cuda", gpus)}) {
    if (devices == 0) continue;
    const Traced traced = trace_addition(model, devices);
    constexpr double under_way_s = 1e-3;  // far above the microseconds that a mark is under way
    for (const Event& event : traced.traces.front().timeline) {
      EXPECT_GE(event.begin_s, -under_way_s) << model << " " << event.device;
      EXPECT_LE(event.end_s, traced.whole_s + under_way_s) << model << " " << event.device;
    }
  }
}

}  // namespace
}  // namespace league::bench
