// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// `samples = "auto"` as a user calls it.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class AutoSamplesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
    folder_.write("study.toml",
                  "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = [\"serial\", \"openmp\"]\nsizes = 1000\n"
                  "samples = \"auto\"\nmax_noise = 0.001\n");
  }
  Outcome league(const std::vector<std::string>& more) {
    std::vector<std::string> all{"run", (folder_.path() / "study.toml").string(), "--records", records().string()};
    all.insert(all.end(), more.begin(), more.end());
    return run("league", all, folder_.path());
  }
  /// The cases of the only comparison: two, and the null test.
  [[nodiscard]] Json rows() const {
    for (const auto& entry : fs::directory_iterator(records()))
      if (entry.path().filename().string().starts_with("000-"))
        return Json::parse(read_file(entry.path())).at("benchmarks");
    return {};
  }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }

  TemporaryFolder folder_;
};

TEST_F(AutoSamplesTest, EndWhereTheyAreQuiet) {
  EXPECT_EQ(league({"--set", "max_noise=1", "--set", "time_limit=600"}).code, 0);
  ASSERT_EQ(rows().size(), 3U);
  for (const Json& row : rows()) {
    EXPECT_GE(row.at("samples").size(), 10U) << "the first look";
    EXPECT_EQ(row.at("samples").size(), rows().at(0).at("samples").size());
    EXPECT_EQ(row.at("sampling").at("stopped_by"), "noise");
    EXPECT_LE(row.at("sampling").at("noise").get<double>(), 1);
  }
}

TEST_F(AutoSamplesTest, EndAfterTheFirstBatchWhereTheTimeIsOver) {
  const std::vector<std::string> brief{"--set", "time_limit=1e-6"};
  EXPECT_EQ(league(brief).code, 0);
  for (const Json& row : rows()) {
    EXPECT_EQ(row.at("samples").size(), 6U);
    EXPECT_EQ(row.at("sampling").at("stopped_by"), "time");
    EXPECT_EQ(row.at("sampling").at("max_noise"), 0.001);
    EXPECT_EQ(row.at("sampling").at("time_limit_s"), 1e-6);
  }
  EXPECT_EQ(league({"--set", "time_limit=1e-6", "--resume"}).code, 0);
  EXPECT_EQ(league({"--set", "time_limit=1e-5", "--resume"}).code, 2) << "another study";
}

TEST_F(AutoSamplesTest, GiveWayToANumber) {
  EXPECT_EQ(league({"--benchmark_repetitions=2"}).code, 0);
  for (const Json& row : rows()) {
    EXPECT_EQ(row.at("samples").size(), 2U);
    EXPECT_FALSE(row.contains("sampling"));
  }
}

TEST_F(AutoSamplesTest, ArePreviewedByTheMostTimeThatTheyMayTake) {
  const Outcome preview = league({"--dry-run", "--set", "time_limit=60"});
  EXPECT_NE(preview.out.find("3 cases, at most about 60 s\n"), std::string::npos) << preview.out;
}

}  // namespace
}  // namespace league::tests
