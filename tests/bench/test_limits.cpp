// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// `league` where a case asks for more than there is: host memory, teams with work.
namespace league::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class LimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
    folder_.write("study.toml",
                  "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = [\"serial\", \"openmp\"]\n"
                  "sizes = [10, 1000]\nsamples = 3\nnull = false\n");
  }
  Outcome league(const std::string& command, const std::vector<std::string>& more) {
    std::vector<std::string> all{command, (folder_.path() / "study.toml").string(), "--records", records().string()};
    all.insert(all.end(), more.begin(), more.end());
    return run("league", all, folder_.path());
  }
  /// Of the rows of all records, each with its number of elements.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::string>> reasons() const {
    std::vector<std::pair<std::int64_t, std::string>> all;
    for (const auto& file : fs::directory_iterator(records())) {
      const Json record = Json::parse(read_file(file.path()));
      if (!record.contains("benchmarks")) continue;
      for (const Json& row : record.at("benchmarks")) {
        EXPECT_EQ(row.at("status") == "skipped", row.value("reason", "") != "") << row.at("name");
        all.emplace_back(row.at("sizes").at("n"), row.value("reason", ""));
      }
    }
    return all;
  }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }

  TemporaryFolder folder_;
};

TEST_F(LimitsTest, WhatFindsNoHostMemoryIsSkippedWithWhatItNeeds) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer ends a program that asks for so much";
#endif
  const std::string reason = "out of host memory: needs at least 4.4 TB, ", sizes = "sizes=1099511627776,10";
  const Outcome preview = league("run", {"--dry-run", "--set", sizes});
  EXPECT_EQ(preview.code, 0) << preview.err;
  EXPECT_NE(preview.out.find("n:1099511627776/devices:1/launch:auto  skipped: " + reason), std::string::npos)
      << preview.out;
  EXPECT_NE(preview.out.find("n:10/devices:1/launch:auto  120 B"), std::string::npos) << preview.out;
  EXPECT_NE(preview.out.find("4 cases, about "), std::string::npos) << preview.out;

  const Outcome ran = league("run", {"--set", sizes});
  EXPECT_EQ(ran.code, 0) << ran.err;
  ASSERT_EQ(reasons().size(), 4U);
  for (const auto& [n, found] : reasons()) EXPECT_EQ(found.starts_with(reason), n > 10) << found;

  const Outcome tuned = league("tune", {"--budget", "1", "--set", "sizes=1099511627776"});
  EXPECT_NE((tuned.out + tuned.err).find(reason), std::string::npos) << tuned.out << tuned.err;
}

TEST_F(LimitsTest, ALeagueBeyondTheWorkIsSkipped) {
  EXPECT_EQ(league("run", {"--league", "2147483647"}).code, 1) << "no case ran";
  ASSERT_EQ(reasons().size(), 4U);
  for (const auto& [n, found] : reasons())
    EXPECT_EQ(found, "league 2147483647: the problem has work for " + std::to_string(n) + " teams");
}

}  // namespace
}  // namespace league::tests
