// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// `league tune` and the run after it, as a user calls them, on a variant with planted launches.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string study = R"(algorithm = "vector_add"
methods = "tunable"
models = "serial"
sizes = 1000
samples = 4
)";

class TuneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league_faults")) GTEST_SKIP() << "no league_faults beside this program";
    folder_.write("study.toml", study);
  }
  Outcome league(const std::string& command, std::vector<std::string> more = {}) {
    std::vector<std::string> all{command, (folder_.path() / "study.toml").string(), "--records",
                                 (folder_.path() / command).string()};
    all.insert(all.end(), more.begin(), more.end());
    return run("league_faults", all, folder_.path());
  }
  /// The rows of the only record of a command.
  [[nodiscard]] Json rows(const std::string& command) const {
    for (const auto& file : fs::directory_iterator(folder_.path() / command))
      if (file.path().filename() != "run.json") return Json::parse(read_file(file.path())).at("benchmarks");
    return {};
  }
  [[nodiscard]] fs::path tuned_file() const {
    for (const auto& file : fs::directory_iterator(folder_.path() / "tuned")) return file.path();
    return {};
  }
  TemporaryFolder folder_;
};

TEST_F(TuneTest, FindsThePlantedLaunchAndRunsTakeIt) {
  const Outcome tuned = league("tune");
  EXPECT_EQ(tuned.code, 1) << "wrong candidates are failures: " << tuned.err;
  int failed = 0, skipped = 0, best = 0;
  for (const Json& row : rows("tune")) {
    EXPECT_TRUE(row.at("tuning").get<bool>());
    failed += row.at("status") == "failed" ? 1 : 0;
    skipped += row.at("status") == "skipped" ? 1 : 0;
    if (!row.contains("best")) continue;
    ++best;
    EXPECT_GE(row.at("launch").at("league"), 16);
    EXPECT_EQ(row.at("launch_source"), "explicit");
    EXPECT_EQ(row.at("samples").size(), 4U);
  }
  EXPECT_GE(failed, 1);
  EXPECT_GE(skipped, 1);
  EXPECT_EQ(best, 1);
  EXPECT_EQ(rows("tune").at(0).at("launch").at("requested"), "auto");
  const std::string file = read_file(tuned_file());
  EXPECT_NE(file.find("method = \"tunable\""), std::string::npos) << file;
  EXPECT_NE(file.find("best = { league = "), std::string::npos) << file;

  EXPECT_EQ(league("run").code, 0);
  EXPECT_EQ(rows("run").at(0).at("launch_source"), "tuned");
  EXPECT_TRUE(rows("run").at(0).at("name").get<std::string>().ends_with("/launch:tuned"));
  EXPECT_GE(rows("run").at(0).at("launch").at("league"), 16);
  EXPECT_EQ(league("run", {"--launch", "auto"}).code, 0);
  EXPECT_EQ(rows("run").at(0).at("launch_source"), "auto");
  EXPECT_EQ(league("run", {"--tuned", (folder_.path() / "none").string()}).code, 0);
  EXPECT_EQ(rows("run").at(0).at("launch_source"), "auto") << "an absent folder means automatic launches";
  EXPECT_EQ(league("run", {"--set", "launches={league=18}"}).code, 0);
  EXPECT_EQ(rows("run").at(0).at("launch_source"), "explicit");
}

TEST_F(TuneTest, RefusesWhatIsWrong) {
  EXPECT_EQ(league("tune", {"--budget", "much"}).code, 2);
  EXPECT_EQ(league("run", {"--launch", "best"}).code, 2);
  EXPECT_EQ(league("run", {"--launch", "explicit"}).code, 2) << "the study gives no launch";
  EXPECT_EQ(league("tune", {"--set", "models=cublas"}).code, 2) << "no own kernel";
  EXPECT_EQ(league("tune", {"--budget", "1", "--set", "models=serial,numpy"}).code, 1) << "peers are left out";
  EXPECT_EQ(league("tune", {"--budget", "1"}).code, 1) << "the one candidate is a wrong one, or refused";
  std::string text = read_file(tuned_file());
  text.replace(text.find("automatic_s = "), 14, "automatic_s = - ");
  folder_.write("tuned/" + tuned_file().filename().string(), text);
  for (const char* command : {"run", "tune"}) {
    const Outcome broken = league(command);
    EXPECT_EQ(broken.code, 2);
    EXPECT_NE(broken.err.find(tuned_file().filename().string() + ":"), std::string::npos) << broken.err;
    EXPECT_NE(broken.err.find("`automatic_s`"), std::string::npos) << broken.err;
  }
  EXPECT_EQ(read_file(tuned_file()), text) << "a broken file is left as it is";
}

TEST_F(TuneTest, ResumesAfterTheComparisonsThatAreDone) {
  const std::string two = study.substr(0, study.find("1000")) + "[1000, 2000]\nsamples = 4\n";
  folder_.write("study.toml", two);
  EXPECT_EQ(league("tune", {"--budget", "4"}).code, 1) << "wrong candidates are failures";
  const auto file_of = [&](const std::string& size) {
    for (const auto& file : fs::directory_iterator(folder_.path() / "tune"))
      if (file.path().string().find("n:" + size + ",") != std::string::npos) return file.path();
    return fs::path();
  };
  const std::string first = read_file(file_of("1000"));
  fs::remove(file_of("2000"));
  EXPECT_EQ(league("tune", {"--budget", "5", "--resume"}).code, 2) << "another search cannot go on with this one";
  const Outcome rest = league("tune", {"--budget", "4", "--resume"});
  EXPECT_EQ(rest.code, 1);
  EXPECT_EQ(rest.out.find("n:1000"), std::string::npos) << rest.out;
  EXPECT_NE(rest.out.find("n:2000"), std::string::npos) << rest.out;
  EXPECT_EQ(read_file(file_of("1000")), first) << "what was done is left as it is";
  EXPECT_TRUE(fs::exists(file_of("2000")));
  const std::string tuned = read_file(tuned_file());
  for (const char* size : {"n = 1000", "n = 2000"}) EXPECT_NE(tuned.find(size), std::string::npos) << tuned;
}

TEST_F(TuneTest, SaysWhatItDoes) {
  const Outcome help = run("league_faults", {"tune", "--help"}, folder_.path());
  EXPECT_EQ(help.code, 0);
  for (const char* word : {"--budget", "--tuned", "--records", "power"})
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace league::tests
