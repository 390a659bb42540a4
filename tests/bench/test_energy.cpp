// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "backends/backend.hpp"
#include "bench/errors.hpp"
#include "bench/measure/case_energy.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/energy.hpp"
#include "bench/measure/interval.hpp"
#include "bench/record/record.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

/// A counter that is updated every `period_s` from -1 s to `end_s`, of a device that takes `watts(t)`, in steps of 1
/// ms.
template <class Watts>
EnergyLog counted(double period_s, double end_s, const Watts& watts) {
  EnergyLog log;
  double joules = 0, next_s = -1;
  for (int ms = -1000; ms < end_s * 1000; ++ms) {
    const double at_s = ms * 1e-3;
    if (at_s >= next_s - 1e-9) {
      log.updates.push_back({at_s, joules});
      next_s += period_s;
    }
    joules += watts(at_s) * 1e-3;
    log.watts.push_back({at_s, static_cast<double>(watts(at_s))});
  }
  return log;
}

/// Computes of `seconds` each, `each` between two fences, until `end_s`.
void run(EnergyLog& log, double seconds, int each, double end_s) {
  log.progress.push_back({0, 0});
  while (log.progress.back().at_s < end_s - 1e-9)
    log.progress.push_back({log.progress.back().at_s + seconds * each, log.progress.back().computes + each});
}

TEST(Energy, IsPowerTimesTimeOnASteadyLoad) {
  EnergyLog log = counted(0.1, 2.7, [](double) { return 500; });
  run(log, 1e-3, 20, 2.5);
  const Energy energy = energy_of(log, 10);
  ASSERT_EQ(energy.reason, "");
  ASSERT_EQ(energy.joules.size(), 10U);
  for (const double joules : energy.joules) EXPECT_NEAR(joules, 0.5, 1e-6);
  EXPECT_NEAR(energy.seconds, 1e-3, 1e-9);
  EXPECT_NEAR(energy.watts, 500, 1e-3);
  EXPECT_NEAR(energy.read_watts.value_or(0), 500, 1e-3);
  EXPECT_EQ(energy.updates, 26);
}

TEST(Energy, LeavesOutWhatWasTakenBeforeTheWindow) {
  EnergyLog log = counted(0.05, 2.7, [](double at_s) { return at_s < 0 ? 100 : 700; });
  run(log, 1e-3, 20, 2.5);
  EXPECT_NEAR(energy_of(log, 10).watts, 700, 1);
}

TEST(Energy, HasAnIntervalAroundAnUnsteadyLoad) {
  EnergyLog log = counted(0.1, 2.7, [](double at_s) { return 500 + 50 * std::sin(8 * at_s); });
  run(log, 1e-3, 20, 2.5);
  const Energy energy = energy_of(log, 10);
  const Interval interval = median_interval(energy.joules);
  EXPECT_LT(interval.low, 0.5);
  EXPECT_GT(interval.high, 0.5);
  EXPECT_LT(interval.high - interval.low, 0.1);
}

TEST(Energy, OfLongComputesHasAPartForEach) {
  EnergyLog log = counted(0.1, 4.5, [](double) { return 300; });
  run(log, 0.7, 1, 4.2);
  const Energy energy = energy_of(log, 10);
  ASSERT_EQ(energy.joules.size(), 6U);
  for (const double joules : energy.joules) EXPECT_NEAR(joules, 210, 0.01);
}

TEST(Energy, OfACounterThatIsUpdatedTooSeldomIsNone) {
  EnergyLog log = counted(1, 4, [](double) { return 300; });
  run(log, 1e-3, 20, 2.5);
  EXPECT_EQ(energy_of(log, 10).reason, "its counter was updated 3 times in 2.50 s");
  EXPECT_TRUE(energy_of(log, 10).joules.empty());
  log = counted(0.1, 2, [](double) { return 300; });
  run(log, 1e-3, 20, 2.5);
  EXPECT_NE(energy_of(log, 10).reason, "") << "the end of the window is not covered";
}

/// 200 W, counted every 20 ms; after `reads` readings it cannot be read any more.
class FakeCounter final : public EnergyCounter {
 public:
  explicit FakeCounter(int reads = 1 << 30) : left_(reads) {}
  [[nodiscard]] std::string name() const override { return "fake"; }
  EnergyReading read() override {
    if (left_-- == 0) throw std::runtime_error("the counter is gone");
    return {.joules = 200 * std::floor(watch_.seconds() / 0.02) * 0.02, .watts = 200};
  }

 private:
  Stopwatch watch_;
  int left_;
};

constexpr EnergyWindow brief{.warm_s = 0.05, .window_s = 0.5, .parts = 8};
int sleep_for_two() {
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  return 2;
}

TEST(Energy, IsMeasuredWhileComputesRun) {
  FakeCounter counter;
  const Energy energy = measure_energy(counter, sleep_for_two, brief);
  ASSERT_EQ(energy.reason, "");
  EXPECT_EQ(energy.counter, "fake");
  EXPECT_NEAR(energy.watts, 200, 6);
  EXPECT_NEAR(median(energy.joules) / energy.seconds, energy.watts, 20);
  EXPECT_GE(energy.window_s, brief.window_s);
  EXPECT_EQ(energy.read_watts, 200);
}

TEST(Energy, OfACounterThatGoesAwayIsUnsupported) {
  FakeCounter counter(30);
  EXPECT_THROW(static_cast<void>(measure_energy(counter, sleep_for_two, brief)), Unsupported);
  FakeCounter other;
  EXPECT_THROW(static_cast<void>(measure_energy(other, []() -> int { throw Interrupted(); }, brief)), Interrupted);
}

TEST(Energy, IsRecordedOrTheReasonIs) {
  Result result;
  result.of.algorithm = registry().algorithm("vector_add");
  result.of.method = &result.of.algorithm->methods.front();
  result.of.parameters.values = {{"n", "8"}, {"memory", "device"}, {"stores", "non_temporal"}};
  EXPECT_FALSE(to_json(result).contains("energy"));
  result.energy = Energy{.reason = "none here"};
  EXPECT_EQ(to_json(result).at("energy").at("reason"), "none here");
  result.energy = Energy{.counter = "fake", .joules = {1, 2}, .seconds = 0.5, .watts = 3};
  const Json energy = to_json(result).at("energy");
  EXPECT_EQ(energy.at("joules").dump(), "[1.0,2.0]");
  EXPECT_EQ(energy.at("power_W"), 3);
  EXPECT_TRUE(energy.at("read_power_W").is_null());
  EXPECT_FALSE(energy.contains("reason"));
}

class RaplTest : public ::testing::Test {
 protected:
  void domain(const std::string& name, const std::string& kind, const std::string& energy) const {
    std::filesystem::create_directory(folder_.path() / name);
    folder_.write(name + "/name", kind + "\n");
    folder_.write(name + "/max_energy_range_uj", "1000000\n");
    if (!energy.empty()) folder_.write(name + "/energy_uj", energy + "\n");
  }
  tests::TemporaryFolder folder_;
};

TEST_F(RaplTest, SumsThePackagesAcrossTheEndOfTheirRange) {
  domain("intel-rapl:0", "package-0", "100");
  domain("intel-rapl:1", "package-1", "900000");
  domain("intel-rapl:0:0", "core", "5");
  const auto counter = rapl_counter(folder_.path());
  EXPECT_EQ(counter->name(), "RAPL, 2 packages");
  EXPECT_EQ(counter->read().joules, 0);
  domain("intel-rapl:0", "package-0", "500100");
  domain("intel-rapl:1", "package-1", "100000");
  EXPECT_DOUBLE_EQ(counter->read().joules, 0.7);
  EXPECT_DOUBLE_EQ(counter->read().joules, 0.7);
}

TEST_F(RaplTest, SaysWhyThereIsNone) {
  const auto reason = [this] {
    try {
      static_cast<void>(rapl_counter(folder_.path()));
    } catch (const Unsupported& why) {
      return std::string(why.what());
    }
    return std::string();
  };
  EXPECT_NE(reason().find("has no processor package"), std::string::npos) << reason();
  domain("intel-rapl:0", "package-0", "");
  EXPECT_NE(reason().find("intel-rapl:0/energy_uj may not be read"), std::string::npos) << reason();
}

TEST(Energy, IsMeasuredWhereAStudyAsksForIt) {
  if (!tests::has_program("league")) GTEST_SKIP() << "no league beside this program";
  const tests::TemporaryFolder folder;
  const auto study = folder.write("study.toml", R"(algorithm = "vector_add"
methods = "plain"
models = ["serial", "openmp"]
sizes = 1000
samples = 6
null = false
energy = true
)");
  const auto records = folder.path() / "records";
  ASSERT_EQ(tests::run("league", {"run", study.string(), "--records", records.string()}, folder.path()).code, 0);
  for (const auto& file : std::filesystem::directory_iterator(records)) {
    if (file.path().filename().string().find("vector_add") == std::string::npos) continue;
    for (const Json& row : Json::parse(tests::read_file(file.path())).at("benchmarks")) {
      const Json& energy = row.at("energy");
      const std::string reason = energy.value("reason", "");
      EXPECT_TRUE(energy.contains("joules") || reason.starts_with("RAPL")) << energy.dump();  // where it may be read
    }
  }
}

/// On a GPU with a counter: a steady load for seconds, against the driver's own power readings.
TEST(Energy, AgreesWithTheDriversPowerOnAGpu) {
  Runtime& runtime = tests::runtime();
  if (runtime.gpus().empty()) GTEST_SKIP() << "no GPU";
  Datasets datasets({}, runtime.host_memory());
  const Algorithm& algorithm = *registry().algorithm("vector_add");
  const std::string model = runtime.backend("cuda") != nullptr ? "cuda" : "hip";
  Case that{.algorithm = &algorithm, .method = &algorithm.methods.front(), .model = model};
  for (const Parameter& parameter : algorithm.parameters)
    that.parameters.values[parameter.name] = parameter.default_value;
  that.parameters.values["n"] = "100000000";
  const auto problem = make_problem(that, runtime, datasets);
  PreparedCase prepared_case(that, *problem, runtime, std::int64_t{4} << 30);
  Stages stages;
  Meter meter(prepared_case, check_fresh(prepared_case, stages).compute_s);
  const Energy energy = energy_of_case(prepared_case, meter, [] {});
  if (!energy.reason.empty()) GTEST_SKIP() << energy.reason;
  ASSERT_TRUE(energy.read_watts);
  EXPECT_NEAR(energy.watts / *energy.read_watts, 1, 0.03) << energy.watts << " W counted, " << *energy.read_watts;
  EXPECT_NEAR(median(energy.joules) / (energy.watts * energy.seconds), 1, 0.03);
}

}  // namespace
}  // namespace league::bench
