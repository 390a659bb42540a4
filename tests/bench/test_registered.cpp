// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <sstream>

#include "algorithms/drivers/one_pass.hpp"
#include "backends/communicator.hpp"
#include "backends/host_pass.hpp"
#include "backends/model.hpp"
#include "bench/cli/list.hpp"
#include "bench/json.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/measure/null_test.hpp"
#include "bench/record/record.hpp"
#include "bench/study/study.hpp"
#include "tests/algorithms/axpy/axpy.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// A backend, a model and an engine that this file alone knows, and a variant of `axpy`, which the tests alone know:
// studies name them, the harness runs them, `league list` shows them.
namespace league::bench {
namespace {

constexpr Model clay{"clay", "clay_runtime", DeviceKind::host};

/// How often metrics were read, where they are; 0: they are not.
int& purrs() {
  static int count = 0;
  return count;
}

class ClayRuntime final : public Backend {
 public:
  [[nodiscard]] std::string version() const override { return "4.5"; }
  [[nodiscard]] std::vector<MetricValue> sample_metrics(Device device) const override {
    if (purrs() == 0) return {};
    return {{.name = "purr", .unit = "dB", .value = 1.0 * purrs()++},
            {.name = "dusty", .value = 1.0 * device.index, .marks = true}};
  }
};

/// How many communicators the engine has made.
int& relays() {
  static int count = 0;
  return count;
}
std::unique_ptr<Communicator> make_relay(Runtime& runtime, std::span<const Shard> shards, const Partition& world) {
  ++relays();
  return make_communicator(runtime, shards, world, "local");
}

const RegisterBackend backend{
    "clay_runtime", 50, [](const Runtime&) -> std::unique_ptr<Backend> { return std::make_unique<ClayRuntime>(); }};
const RegisterModel model{{.name = "clay", .order = 91, .expected = false}};
const RegisterEngine engine{"relay", DeviceKind::host, make_relay};

void axpy(const serial::Pass& on, const float* x, const float* y, float* sum) {
  for (std::int64_t i = 0; i < on.size(); ++i) sum[i] = 2 * x[i] + y[i];
}
const OnePass<Axpy> plain{"plain", clay, {"x", "y", "sum"}, kernel("axpy", axpy)};

class Registered : public ::testing::Test {
 protected:
  Study read(const std::string& text) {
    return read_study(folder_.write("study.toml", text), {}, tests::runtime(), datasets_);
  }
  std::vector<Result> run(const Comparison& comparison) {
    Sampler sampler;
    const RunContext run{.runtime = tests::runtime(),
                         .datasets = datasets_,
                         .sampler = sampler,
                         .device_memory_bytes = std::int64_t{1} << 30,
                         .check_interrupt = [] {},
                         .announce = [](const Case&, const std::string&) {},
                         .save = [](const Case&, const Problem&, const Outputs&) {}};
    return run_comparison(comparison, run);
  }

  tests::TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

TEST_F(Registered, ACaseIsFoundAndRuns) {
  Study study = read(
      "algorithm = \"axpy\"\nmodels = [\"clay\", \"serial\"]\ncommunicator = [\"relay\", \"local\"]\nsizes = 1001\n"
      "devices = 2\nsamples = 6\n");
  ASSERT_EQ(study.comparisons.size(), 1U);
  add_null_tests(study);
  const std::string name = "axpy/method:plain/model:clay/dtype:f32/n:1001/devices:2";
  const std::vector<Case>& cases = study.comparisons.front().cases;
  ASSERT_EQ(cases.size(), 5U);
  EXPECT_EQ(cases[0].name, name + "/communicator:relay/launch:auto");
  EXPECT_EQ(cases[1].name, name + "/launch:auto");
  EXPECT_EQ(cases[4].repeats, cases[0].name) << "native, and more than one thread";

  const int before = relays();
  const std::vector<Result> results = run(study.comparisons.front());
  for (const Result& result : results) {
    EXPECT_EQ(result.status, Status::passed) << result.of.name << ": " << result.reason;
    EXPECT_EQ(result.samples.size(), 6U);
    EXPECT_EQ(result.verdict.rows_checked, 1001);
  }
  EXPECT_EQ(relays() - before, 3) << "one for each model, and one for the null test";
  const Json row = to_json(results.front());
  EXPECT_EQ(row.at("model"), "clay");
  EXPECT_EQ(row.at("communicator"), "relay");
}

TEST_F(Registered, MetricsAreReadBesideEachSample) {
  const Study study = read("algorithm = \"axpy\"\nmodels = \"serial\"\nsizes = 1001\ndevices = 2\nsamples = 6\n");
  purrs() = 1;
  const Json row = to_json(run(study.comparisons.front()).front());
  purrs() = 0;
  ASSERT_EQ(row.at("status"), "passed") << row.at("reason");
  EXPECT_EQ(row.at("metrics").dump(),
            R"([{"name":"purr","unit":"dB","of":"sample","values":[2.0,4.0,6.0,8.0,10.0,12.0]},)"
            R"({"name":"dusty","unit":"","of":"sample","values":[1.0,1.0,1.0,1.0,1.0,1.0],"marks":true}])")
      << "the larger value of two devices";
}

TEST_F(Registered, LaunchesAndLimitsAreThoseOfOwnModels) {
  const Study study = read(
      "algorithm = \"axpy\"\nmodels = \"clay\"\ncommunicator = \"relay\"\nsizes = 8\ndevices = 1000\n"
      "launches = [\"auto\", {league = 1}]\n");
  ASSERT_EQ(study.comparisons.front().cases.size(), 2U) << "the launch of a model of its own can be chosen";
  for (const Case& that : study.comparisons.front().cases)
    EXPECT_TRUE(that.skip.starts_with("needs 1000 host devices")) << that.skip;
}

TEST_F(Registered, AreListed) {
  std::ostringstream text, json;
  list(tests::runtime(), text, false);
  for (const char* line : {"\nbackend clay_runtime 4.5\n", "\ncommunicator relay: host\n",
                           "\naxpy: ", "\n    clay            ready, host\n"})
    EXPECT_NE(text.str().find(line), std::string::npos) << line << "\nin\n" << text.str();
  list(tests::runtime(), json, true);
  const Json all = Json::parse(json.str());
  const auto named = [](const Json& list, const char* name) {
    for (const Json& one : list)
      if (one.at("name") == name) return one;
    return Json();
  };
  EXPECT_EQ(named(all.at("backends"), "clay_runtime").value("version", ""), "4.5");
  EXPECT_EQ(named(all.at("communicators"), "relay").at("devices"), Json({"host"}));
  EXPECT_EQ(named(all.at("communicators"), "local_serialized").at("name"), "local_serialized") << "in every build";
  EXPECT_EQ(named(all.at("algorithms"), "axpy").at("edge_cases").at(3).at("n"), "1023");
  const Json method = named(named(all.at("algorithms"), "axpy").at("methods"), "plain");
  EXPECT_EQ(named(method.at("models"), "clay").at("state"), "ready");
}

}  // namespace
}  // namespace league::bench
