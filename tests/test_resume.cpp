// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/program.hpp"
#include "tests/temporary.hpp"

// Folders of records as a user meets them: what a new run removes, what a resumed run believes, two runs at once.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string small = R"(algorithm = "vector_add"
methods = "plain"
models = "serial"
sizes = [10, 1000]
samples = 2
null = true
)";

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
    study(small);
  }
  void study(const std::string& text) const { folder_.write("study.toml", text); }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }
  [[nodiscard]] std::vector<std::string> complete(const std::vector<std::string>& more,
                                                  const std::string& command = "run") const {
    std::vector<std::string> all{command, (folder_.path() / "study.toml").string(), "--records", records().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome league(const std::vector<std::string>& more = {}, const std::function<void()>& prepare = {}) {
    return run("league", complete(more), folder_.path(), prepare);
  }
  TemporaryFolder folder_;
};

TEST_F(ResumeTest, TakesNamesThatAreNotUtf8) {
  const fs::path strange = folder_.write("stu\xff.toml", small);
  const std::vector<std::string> arguments{"run",    strange.string(), "--records", records().string(),
                                           "--data", "da\xffta",       "--resume"};
  for (const char* time : {"first", "resumed"}) {
    const Outcome outcome = run("league", arguments, folder_.path());
    EXPECT_EQ(outcome.code, 0) << time << outcome.err;
  }
  EXPECT_EQ(Json::parse(read_file(records() / "run.json")).at("study"), "stu\xef\xbf\xbd");
  const Outcome printed = league({"--data", "da\xffta", "--benchmark_format=json"});
  EXPECT_EQ(Json::parse(printed.out).at("benchmarks").size(), 4U) << printed.err;
}

TEST_F(ResumeTest, SearchesTakeNamesThatAreNotUtf8) {
  const fs::path strange =
      folder_.write("stu\xff.toml", "algorithm = \"vector_add\"\nmodels = \"serial\"\nsizes = 10\n");
  const std::vector<std::string> arguments{"tune", strange.string(), "--records", records().string(), "--budget", "1"};
  EXPECT_EQ(run("league", arguments, folder_.path()).code, 0);
  const Outcome again = run("league", arguments, folder_.path());
  EXPECT_EQ(again.code, 0) << "the tuned file is read again: " << again.err;
}

}  // namespace
}  // namespace league::tests
