// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// --comparison of `league run` and `league tune`, and the seconds that a record says a comparison took.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string of_1000 = "vector_add/dtype:f32/n:1000/devices:1";

class ComparisonsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
    folder_.write("study.toml", small_study);
  }
  Outcome league(const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> all{command, (folder_.path() / "study.toml").string(), "--records", records().string()};
    all.insert(all.end(), more.begin(), more.end());
    return run("league", all, folder_.path());
  }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }
  [[nodiscard]] std::vector<Json> all_records() const {
    std::vector<Json> all;
    for (const auto& entry : fs::directory_iterator(records()))
      if (entry.path().extension() == ".json" && entry.path().filename() != "run.json")
        all.push_back(Json::parse(read_file(entry.path())));
    return all;
  }
  TemporaryFolder folder_;
};

TEST_F(ComparisonsTest, AreRunWholeByTheirNames) {
  EXPECT_EQ(league("run", {"--comparison", of_1000}).code, 0);
  ASSERT_EQ(all_records().size(), 1U);
  const Json record = all_records().front();
  EXPECT_EQ(record.at("comparison"), of_1000);
  EXPECT_EQ(record.at("benchmarks").size(), 2U) << "every model";
  EXPECT_GT(record.at("seconds").get<double>(), 0);
  EXPECT_EQ(league("run", {"--comparison", of_1000, "--comparison", "vector_add/dtype:f32/n:10/devices:1"}).code, 0);
  EXPECT_EQ(all_records().size(), 2U);
}

TEST_F(ComparisonsTest, AreTunedByTheirNames) {
  EXPECT_EQ(league("tune", {"--budget", "1", "--comparison", of_1000}).code, 0);
  ASSERT_EQ(all_records().size(), 1U);
  EXPECT_EQ(all_records().front().at("comparison"), of_1000);
  EXPECT_GT(all_records().front().at("seconds").get<double>(), 0);
}

TEST_F(ComparisonsTest, CountTheStepsThatASolveTook) {
  folder_.write("study.toml",
                "algorithm = \"logistic_regression\"\nmethods = \"newton\"\nmodels = \"serial\"\nsamples = 2\n"
                "sizes = { rows = 2000, features = 3 }\nsteps = 20\ntolerance = 1e-6\nnull = true\n");
  const Outcome outcome = league("run", {});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  ASSERT_EQ(all_records().size(), 1U);
  const Json rows = all_records().front().at("benchmarks");
  ASSERT_EQ(rows.size(), 2U) << "a case, and its null test";
  for (const Json& row : rows) {
    const double steps = row.at("check").at("figures").at("steps");
    EXPECT_GT(steps, 1);
    EXPECT_LT(steps, 20);
    EXPECT_EQ(row.at("cost").at("bytes"), 2000 * (3 * 4 + 1)) << "rows may stay on the device";
    EXPECT_EQ(row.at("cost").at("method_bytes"), steps * 2000 * (3 * 4 + 1)) << steps;
  }
}

TEST_F(ComparisonsTest, ThatTheStudyLacksAreRefusedByName) {
  EXPECT_EQ(league("run", {}).code, 0);
  for (const char* command : {"run", "tune"}) {
    const Outcome unknown = league(command, {"--comparison", "vector_add/dtype:f32/n:11/devices:1"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("--comparison vector_add/dtype:f32/n:11/devices:1: the study has no such comparison; "
                               "the nearest is 'vector_add/dtype:f32/n:10/devices:1'. `league run STUDY --dry-run"),
              std::string::npos)
        << unknown.err;
  }
  EXPECT_EQ(all_records().size(), 2U) << "nothing is lost";
}

}  // namespace
}  // namespace league::tests
