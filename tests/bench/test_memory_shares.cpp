// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/errors.hpp"
#include "bench/study/study.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Sizes that are shares of the memory: `sizes = { n = { memory_share = 0.1 } }`.
namespace league::bench {
namespace {

const std::string sums = "algorithm = 'sum'\nmethods = 'atomic'\nmodels = 'serial'\n";

class MemorySharesTest : public ::testing::Test {
 protected:
  /// n of each comparison.
  std::vector<std::int64_t> sizes(const std::string& text, const std::vector<std::string>& settings = {}) {
    std::vector<Assignment> assignments;
    for (const std::string& setting : settings) assignments.push_back(read_assignment(setting));
    std::vector<std::int64_t> all;
    const auto file = folder_.write("study.toml", text);
    for (const Comparison& one : read_study(file, assignments, tests::runtime(), datasets_).comparisons)
      all.push_back(one.cases.front().parameters.integer("n"));
    return all;
  }
  std::string refusal(const std::string& text) {
    try {
      sizes(text);
    } catch (const BadInput& error) {
      const std::string what = error.what();
      return what.substr(what.find(".toml") + 5);
    }
    return "accepted";
  }
  /// The largest n whose array takes this share.
  static std::int64_t length(double share, std::int64_t value_bytes) {
    const Runtime& runtime = tests::runtime();
    std::int64_t bytes = runtime.info({DeviceKind::host, 0, 1}).memory_bytes;
    if (!runtime.gpus().empty()) bytes = runtime.gpus().front().memory_bytes;
    return static_cast<std::int64_t>(share * static_cast<double>(bytes)) / value_bytes / 1024 * 1024;
  }

  tests::TemporaryFolder folder_;
  Datasets datasets_{{}, tests::runtime().host_memory()};
};

TEST_F(MemorySharesTest, AnArrayOfEachTypeTakesTheShare) {
  const std::string share = "sizes = {n = {memory_share = 0.25}}\n";
  EXPECT_EQ(sizes(sums + share), (std::vector{length(0.25, 4)}));
  EXPECT_EQ(sizes(sums + share + "dtypes = ['f64', 'f32']\n"), (std::vector{length(0.25, 8), length(0.25, 4)}));
  EXPECT_EQ(sizes(sums, {"sizes.n={memory_share = 0.25}"}), (std::vector{length(0.25, 4)}));
}

TEST_F(MemorySharesTest, StandsBesideNumbersAndOtherShares) {
  const std::vector<std::int64_t> expected{1000, length(0.01, 4), length(0.5, 4)};
  const std::string shares = "{memory_share = 0.01}, {memory_share = 0.5}";
  EXPECT_EQ(sizes(sums + "sizes = {n = [1000, " + shares + "]}\n"), expected);
  EXPECT_EQ(sizes(sums + "sizes = [{n = 1000}, {n = [" + shares + "]}]\n"), expected);
}

TEST_F(MemorySharesTest, RefusesWhatIsNoShareOrNoLength) {
  const auto share = [](const std::string& text) { return sums + "sizes = {n = {memory_share = " + text + "}}\n"; };
  EXPECT_EQ(refusal(share("0")), ":4: `sizes.n.memory_share` is 0: it takes a finite number above 0 and up to 1");
  EXPECT_EQ(refusal(share("1.5")), ":4: `sizes.n.memory_share` is 1.5: it takes a finite number above 0 and up to 1");
  EXPECT_EQ(refusal(share("1e-12")), ":4: `sizes.n.memory_share` is less than 1,024 values of this machine's memory");
  EXPECT_EQ(refusal(share("0.1, share = 1")), ":4: `memory_share` stands alone: leave out the other keys");
  EXPECT_EQ(refusal("algorithm = 'stencil'\nsizes = {n = {memory_share = 0.1}}\n"),
            ":2: `sizes.n` of stencil is not the length of an array: give a number");
}

}  // namespace
}  // namespace league::bench
