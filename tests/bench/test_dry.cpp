// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "bench/cli/preview.hpp"
#include "bench/json.hpp"
#include "bench/measure/check.hpp"
#include "bench/measure/comparison.hpp"
#include "bench/study/models.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/heap.hpp"
#include "tests/runtime.hpp"

// What a dry run says of the memory of devices: the sum of a real run, without taking it.
namespace league::bench {
namespace {

constexpr std::int64_t plenty = std::int64_t{1} << 30;

class DryRun : public ::testing::Test {
 protected:
  std::vector<Case> cases(const std::string& text) {
    std::vector<Case> all;
    study_ = read_study(folder_.write("study.toml", text), {}, tests::runtime(), datasets_);
    for (const Comparison& comparison : study_.comparisons)
      std::ranges::copy_if(comparison.cases, std::back_inserter(all),
                           [](const Case& that) { return that.skip.empty(); });
    return all;
  }
  /// Holds the dry run of a case on a host against its real one.
  void expect_same(const Case& that) {
    SCOPED_TRACE(that.name);
    const auto problem = make_problem(that, runtime_, datasets_);
    tests::Heap heap;
    const std::int64_t needed = needed_device_bytes(that, *problem, runtime_, plenty);
    EXPECT_EQ(heap.max_bytes, 0) << "a dry run takes nothing";
    EXPECT_GT(needed, 0);
    PreparedCase real(that, *problem, runtime_, plenty);
    EXPECT_EQ(needed, real.prepared().device_bytes());
    EXPECT_EQ(needed * that.devices, heap.bytes) << "and that is what is taken";
  }

  Runtime& runtime_ = tests::runtime();
  tests::TemporaryFolder folder_;
  Datasets datasets_{{}, runtime_.host_memory()};
  Study study_;
};

TEST_F(DryRun, KnowsWhatAPassTakes) {
  for (const Case& that : cases("algorithm = \"vector_add\"\nmethods = [\"plain\", \"wide\"]\n"
                                "models = [\"serial\", \"openmp\"]\nsizes = 1000\ndevices = [1, 2]\n"))
    expect_same(that);
}

TEST_F(DryRun, KnowsWhatASolveTakes) {
  const auto fused = cases(
      "algorithm = \"linear_regression\"\nmethods = [\"fused\", \"atomic\"]\n"
      "models = [\"serial\", \"openmp\"]\nsizes = {points = 1000, features = 3}\nsteps = 250\n"
      "launches = [\"auto\", {league = 1}]\n");
  ASSERT_GE(fused.size(), 4U);
  for (const Case& that : fused) expect_same(that);
}

TEST_F(DryRun, KnowsWhatCollectivesTake) {
  const auto all = cases("algorithm = \"collectives\"\nmodels = \"openmp\"\nsizes = 40000\ndevices = [2, 3]\n");
  ASSERT_EQ(all.size(), is_built(runtime_, "openmp") ? 10U : 0U);
  for (const Case& that : all) expect_same(that);
}

TEST_F(DryRun, SaysOfEveryVariantWhatARunTakes) {
  int known = 0;
  for (const Variant& variant : registry().variants) {
    const Algorithm& algorithm = *registry().algorithm(variant.algorithm);
    const auto method = std::ranges::find(algorithm.methods, variant.method, &Method::name);
    if (method == algorithm.methods.end()) continue;  // planted by the fault tests
    if (availability(runtime_, algorithm, *method, variant.model.name).state != State::ready) continue;
    Case that{.algorithm = &algorithm, .method = &*method, .model = std::string(variant.model.name)};
    if (algorithm.between_shards) that.devices = 2;
    if (that.devices > max_devices(runtime_, variant.model.device)) continue;
    that.dtype = method->dtypes.front();
    for (const Parameter& parameter : algorithm.parameters)
      that.parameters.values[parameter.name] = parameter.default_value;
    for (const auto& [key, value] : algorithm.edge_cases.back()) that.parameters.values[key] = value;
    if (algorithm.needs_dataset)
      that.data = {.dataset = "generated",
                   .train = that.parameters.integer("train"),
                   .test = that.parameters.integer("test"),
                   .features = that.parameters.integer("features")};
    const auto problem = make_problem(that, runtime_, datasets_);
    for (const Execution execution : variant.executions) {
      that.execution = execution;
      give_names(that);
      SCOPED_TRACE(that.name);
      const auto prepare = [&] { return PreparedCase(that, *problem, runtime_, plenty).prepared().device_bytes(); };
      std::int64_t needed = 0;
      try {
        needed = needed_device_bytes(that, *problem, runtime_, plenty);
      } catch (const Unsupported&) {  // as a run would find it
        EXPECT_THROW(static_cast<void>(prepare()), Unsupported);
        continue;
      }
      EXPECT_EQ(needed, prepare());
      known += needed > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(known, 20);
}

TEST_F(DryRun, PrintsItAndWhatTheBudgetRefuses) {
  static_cast<void>(
      cases("algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\nsizes = [10, 1000]\n"));
  std::ostringstream out;
  EXPECT_EQ(preview(study_, runtime_, datasets_, out, 4000, BenchmarkFlags::Format::console), ExitCode::passed);
  EXPECT_NE(out.str().find("n:10/devices:1/launch:auto  120 B, 120 B on a device  about "), std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("n:1000/devices:1/launch:auto  skipped: needs 12 KB, budget 4 KB\n"), std::string::npos)
      << out.str();
}

TEST_F(DryRun, PrintsJsonOfAllThatIsForeseen) {
  static_cast<void>(
      cases("algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = [\"serial\", \"cub\"]\n"
            "sizes = [10, 1000]\n"));
  std::ostringstream out;
  EXPECT_EQ(preview(study_, runtime_, datasets_, out, 4000, BenchmarkFlags::Format::json), ExitCode::passed);
  const Json seen = Json::parse(out.str());
  EXPECT_EQ(seen.at("study"), "study");
  ASSERT_EQ(seen.at("comparisons").size(), 2U);
  const Json &small = seen.at("comparisons").at(0), &large = seen.at("comparisons").at(1);
  EXPECT_EQ(small.at("comparison"), "vector_add/dtype:f32/n:10/devices:1");
  EXPECT_EQ(small.at("bytes"), 120);
  const Json& runs = small.at("cases").at(0);
  EXPECT_EQ(runs.at("name"), "vector_add/method:plain/model:serial/dtype:f32/n:10/devices:1/launch:auto");
  EXPECT_EQ(runs.at("status"), "runs");
  EXPECT_EQ(runs.at("state"), "ready");
  EXPECT_EQ(runs.at("device_bytes"), 120);
  EXPECT_GT(runs.at("seconds").get<double>(), 0);
  EXPECT_GE(small.at("seconds").get<double>(), runs.at("seconds").get<double>());
  EXPECT_GE(seen.at("seconds").get<double>(), small.at("seconds").get<double>());
  const Json& refused = large.at("cases").at(0);
  EXPECT_EQ(refused.at("status"), "skipped");
  EXPECT_EQ(refused.at("reason"), "needs 12 KB, budget 4 KB");
  EXPECT_EQ(refused.at("seconds"), 0);
}

}  // namespace
}  // namespace league::bench
