// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>

#include "bench/peers/reported_time.hpp"
#include "tests/bench/peers.hpp"

// A peer times itself: what it reports must agree with the clock of this side.
namespace league::tests {
namespace {

using bench::ReportedTime;

/// Computes that take `launch_s` to queue and `work_s` on a device that works beside the host; a call takes 1 ms. The
/// peer's clock shows `rate` seconds in a second.
struct Computes {
  double launch_s, work_s, rate = 1;
  ReportedTime::Look operator()(int count) const {
    const double queued_s = 1e-3 + count * launch_s;
    const double whole_s = std::max(count * launch_s, count * work_s);
    return {queued_s, 1e-3 + std::max(0.0, count * work_s - queued_s), rate * whole_s};
  }
};

/// Whether `seconds` is believed of computes, in a call of six: itself as long as they take.
testing::AssertionResult believes(ReportedTime::Case that, double seconds) {
  constexpr int count = 6;
  const ReportedTime::Look call = that.look(count);
  try {
    ReportedTime(std::move(that)).require(seconds, count, call.queued_s + call.waited_s);
    return testing::AssertionSuccess();
  } catch (const std::runtime_error& error) {
    return testing::AssertionFailure() << error.what();
  }
}

TEST(ReportedTime, OnAHostIsThatOfItsComputes) {
  for (const double work_s : {1e-7, 1e-4, 1e-1, 10.0}) {
    const auto host = [&](bool one_at_a_time) {
      return ReportedTime::Case{DeviceKind::host, false, one_at_a_time, Computes{work_s, 0}};
    };
    EXPECT_TRUE(believes(host(false), work_s));
    EXPECT_TRUE(believes(host(false), work_s / 5)) << "a short batch need not share the machine";
    EXPECT_FALSE(believes(host(false), work_s / 20)) << work_s;
    EXPECT_FALSE(believes(host(false), 6 * work_s + 4e-3)) << work_s << ": a sum, or another unit";
    EXPECT_TRUE(believes(host(true), work_s));
    EXPECT_EQ(static_cast<bool>(believes(host(true), work_s / 20)), work_s < 2e-2)
        << "a short one alone cannot be seen";
  }
}

TEST(ReportedTime, IsOfAClockThatRunsAsOursDoes) {
  for (const DeviceKind kind : {DeviceKind::host, DeviceKind::gpu})
    for (const double work_s : {1e-4, 1e-1, 10.0}) {
      const auto believed = [&](double rate) {
        const Computes on_host{work_s, 0, rate}, on_gpu{1e-5, work_s, rate};
        return believes({kind, false, false, kind == DeviceKind::gpu ? on_gpu : on_host}, work_s * rate);
      };
      EXPECT_TRUE(believed(1)) << work_s;
      EXPECT_TRUE(believed(0.9)) << work_s;
      EXPECT_FALSE(believed(0.75)) << work_s;
      EXPECT_FALSE(believed(1.0 / 9)) << work_s;
    }
}

TEST(ReportedTime, OfAProgramThatDoesNotReportItsBatchesIsHeldToOurs) {
  const auto host = [](int count) { return ReportedTime::Look{count * 1e-4, 0}; };
  EXPECT_TRUE(believes({DeviceKind::host, false, false, host}, 1e-4));
  EXPECT_FALSE(believes({DeviceKind::host, false, false, host}, 5e-6));
}

TEST(ReportedTime, OnAGpuMayBeFarBelowThatOfItsLaunches) {
  const ReportedTime::Case bound_by_launches{DeviceKind::gpu, false, false, Computes{1e-4, 2e-6}};
  EXPECT_TRUE(believes(bound_by_launches, 2e-6));
  const ReportedTime::Case wrong_clock{DeviceKind::gpu, false, false, Computes{1e-4, 2e-6, 0.1}};
  EXPECT_FALSE(believes(wrong_clock, 2e-7));
  const ReportedTime::Case bound_by_the_device{DeviceKind::gpu, false, false, Computes{1e-5, 1e-3}};
  EXPECT_TRUE(believes(bound_by_the_device, 1e-3));
  EXPECT_FALSE(believes(bound_by_the_device, 1e-5));
}

TEST(ReportedTime, IsOneThatAClockCanShow) {
  for (const double seconds : {-1.0, 0.0, 1e-300, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(believes({DeviceKind::host, false, false, Computes{1e-7, 0}}, seconds)) << seconds;
    EXPECT_FALSE(believes({DeviceKind::gpu, false, false, Computes{1e-5, 1e-7}}, seconds)) << seconds;
  }
  const ReportedTime::Case nothing_to_do{DeviceKind::host, true, false, Computes{1e-7, 0}};
  EXPECT_TRUE(believes(nothing_to_do, 0));
  EXPECT_FALSE(believes(nothing_to_do, -1e-12));
}

TEST(ReportedTime, SurvivesPausesOfTheMachine) {
  int calls = 0;
  const auto paused = [&](int count) {
    return ReportedTime::Look{count * 1e-6 + (++calls % 5 == 0 ? 0.0 : 0.03), 0, count * 1e-6};
  };
  ReportedTime time({DeviceKind::host, false, false, paused});
  EXPECT_EQ(time.require(1e-6, 6, 0.03), 1e-6);
  const int before = calls;
  EXPECT_EQ(time.require(1e-6, 6, 0.03), 1e-6);
  EXPECT_EQ(calls, before) << "it has seen them";
  EXPECT_THROW(time.require(1e-8, 6, 0.03), std::runtime_error);
}

/// Peers that report what their expression says: `honest` is the mean, `count` the number of computes.
std::string reporting() {
  const std::vector<std::pair<std::string, std::string>> reports{{"honest", "honest"},
                                                                 {"negative", "-1"},
                                                                 {"zero", "0"},
                                                                 {"tiny", "1e-300"},
                                                                 {"fast", "1e-9"},
                                                                 {"slow", "honest + 1"},
                                                                 {"endless", "math.inf"},
                                                                 {"undefined", "math.nan"},
                                                                 {"text", "\"1e-6\""},
                                                                 {"truth", "True"},
                                                                 {"none", "None"},
                                                                 {"array", "np.ones(2)"},
                                                                 {"single", "np.float32(honest)"}};
  std::string text = "\nimport math\n";
  for (const auto& [method, report] : reports)
    text += "class " + method + "(Sound):\n    method = \"" + method +
            "\"\n    def time(self, count):\n        honest = self.latency(count)\n        return " + report + "\n\n";
  return text;
}

TEST_F(PeersTest, TimesThatCannotBeAreFailed) {
  peer("numpy", sound + reporting());
  const auto rows =
      run_study("[\"-plain\", \"-wide\", \"-fill\", \"-transform\", \"-sound\"]", 1, "models = \"numpy\"\n");
  const auto failed = [&](const std::string& method, const std::string& reason) {
    expect_row(rows.at(method + " numpy"), "failed", reason);
  };
  for (const char* method : {"honest", "single"}) expect_row(rows.at(std::string(method) + " numpy"), "passed", "");
  failed("negative", "it reports -1 s for a compute, less than a nanosecond");
  failed("zero", "it reports 0 s for a compute, less than a nanosecond");
  failed("tiny", "it reports 1e-300 s for a compute, less than a nanosecond");
  failed("fast", "it reports 1e-09 s for a compute, and one takes ");
  failed("slow", " s for a compute, and the call with ");
  failed("endless", "it reports inf as the seconds of a compute");
  failed("undefined", "it reports nan as the seconds of a compute");
  failed("text", "it reports '1e-6' as the seconds of a compute");
  failed("truth", "it reports True as the seconds of a compute");
  failed("none", "it reports None as the seconds of a compute");
  failed("array", "it reports array([1., 1.]) as the seconds of a compute");
}

TEST_F(PeersTest, NoRowsTakeNoTime) {
  peer("numpy", sound + reporting());
  std::vector<std::string> words = arguments(R"(["honest", "zero", "negative"])");
  words.insert(words.end(), {"--set", "sizes=0"});
  const auto rows = run_study(words, 1);
  expect_row(rows.at("honest numpy"), "passed", "");
  expect_row(rows.at("zero numpy"), "passed", "");
  expect_row(rows.at("negative numpy"), "failed", "it reports -1 s for a compute");
}

}  // namespace
}  // namespace league::tests
