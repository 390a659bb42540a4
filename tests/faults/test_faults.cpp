// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// Every fault planted in a real variant must come out as FAILED, with exit code 1, and none of the real ones may.
namespace league::tests {
namespace {

using Json = nlohmann::json;

/// Names of the methods of an algorithm that begin with "fault_".
std::vector<std::string> planted(const Json& list, const std::string& algorithm_name) {
  std::vector<std::string> methods;
  for (const Json& algorithm : list.at("algorithms"))
    for (const Json& method : algorithm.at("methods"))
      if (algorithm.at("name") == algorithm_name && method.at("name").get<std::string>().starts_with("fault_"))
        methods.push_back(method.at("name"));
  return methods;
}

struct Count {
  int failed = 0, passed = 0, skipped = 0;
};

/// Runs the methods of a study on one and two devices, and counts what came of them by model.
std::map<std::string, Count> play(const TemporaryFolder& folder, const std::string& study, const std::string& method) {
  const std::filesystem::path file = folder.write("study.toml", study);
  const Outcome outcome =
      run("league_faults",
          {"run", file.string(), "--records", (folder.path() / "records").string(), "--set", "methods=" + method,
           "--set", "devices=1,2", "--set", "samples=2", "--set", "null=false", "--benchmark_format=json"},
          folder.path());
  std::map<std::string, Count> counts;
  int failed = 0;
  const Json rows = Json::parse(outcome.out).at("benchmarks");
  for (const Json& row : rows) {
    Count& count = counts[row.at("model")];
    ++(row.at("status") == "failed" ? count.failed : row.at("status") == "passed" ? count.passed : count.skipped);
    failed += row.at("status") == "failed" ? 1 : 0;
    if (row.at("status") == "passed" && method.starts_with("fault_")) ADD_FAILURE() << row.at("name") << " passed";
    if (row.at("status") == "failed" && !method.starts_with("fault_"))
      ADD_FAILURE() << row.at("name") << ": " << row.at("reason");
  }
  EXPECT_EQ(outcome.code == 1, failed > 0 || rows.empty()) << outcome.code;
  return counts;
}

void expect_all_found(const std::string& algorithm, const std::string& real, const std::string& study,
                      std::size_t faults) {
  if (!has_program("league_faults")) GTEST_SKIP() << "no league_faults beside this program";
  const TemporaryFolder folder;
  const Json list = Json::parse(run("league_faults", {"list", "--json"}, folder.path()).out);
  const std::vector<std::string> methods = planted(list, algorithm);
  EXPECT_EQ(methods.size(), faults);
  const std::map<std::string, Count> sound = play(folder, study, real);
  for (const std::string& method : methods)
    for (const auto& [model, count] : play(folder, study, method))
      EXPECT_EQ(count.failed, sound.at(model).passed) << method << " in " << model;
}

TEST(Faults, InVectorAddAreFound) {
  expect_all_found("vector_add", "plain", "algorithm = \"vector_add\"\nsizes = 1000\ndtypes = [\"f32\", \"f64\"]\n", 6);
}

TEST(Faults, AreNotRepeated) {
  if (!has_program("league_faults")) GTEST_SKIP() << "no league_faults beside this program";
  const TemporaryFolder folder;
  const std::string study =
      "algorithm = \"vector_add\"\nmethods = \"fault_nothing\"\nmodels = \"serial\"\nsizes = 9\nsamples = 2\n";
  const Outcome outcome = run("league_faults",
                              {"run", folder.write("study.toml", study).string(), "--records",
                               (folder.path() / "records").string(), "--benchmark_format=json"},
                              folder.path());
  const Json rows = Json::parse(outcome.out).at("benchmarks");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("status"), "failed");
  EXPECT_EQ(rows[1].at("null"), true);
  EXPECT_EQ(rows[1].at("reason"), "the case that it repeats did not pass its check");
}

TEST(Faults, InKnnAreFound) {
  expect_all_found("knn", "direct",
                   "algorithm = \"knn\"\ndataset = \"generated\"\nsizes = {train = 220, test = 63, features = 4}\n", 7);
}

}  // namespace
}  // namespace league::tests
