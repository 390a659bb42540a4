// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// Signals to a run, alone and in quick succession.
namespace league::tests {
namespace {

namespace fs = std::filesystem;

class SignalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
  }
  /// A run of a short comparison, which is over, and of longer ones: seconds are left, on a busy machine too.
  std::unique_ptr<Program> started(int samples = 1000, const std::function<void()>& prepare = {}) {
    const fs::path study = folder_.write(
        "study.toml",
        "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = \"serial\"\nsamples = " + std::to_string(samples) +
            "\nnull = false\n"
            "sizes = [10, 1000001, 1000002, 1000003, 1000004, 1000005, 1000006, 1000007]\n");
    const std::vector<std::string> words{"run", study.string(), "--records", records().string(),
                                         "--benchmark_out=" + merged().string()};
    auto program = std::make_unique<Program>("league", words, folder_.path(), prepare);
    while (program->running() && files() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_TRUE(program->running());
    return program;
  }
  /// The manifest, and one per comparison.
  [[nodiscard]] std::ptrdiff_t files() const {
    if (!fs::exists(records())) return 0;
    return std::ranges::count_if(fs::directory_iterator(records()),
                                 [](const auto& entry) { return entry.path().extension() == ".json"; });
  }
  [[nodiscard]] fs::path records() const { return folder_.path() / "records"; }
  /// Written when a run comes to its end, interrupted or not; not where the user insists.
  [[nodiscard]] fs::path merged() const { return folder_.path() / "all.json"; }

  TemporaryFolder folder_;
};

TEST_F(SignalsTest, OfEveryKindInterrupt) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto program = started();
    program->signal(signal);
    EXPECT_EQ(program->wait().code, 130) << signal;
    EXPECT_TRUE(fs::exists(merged())) << signal;
    fs::remove_all(records());
    fs::remove(merged());
  }
}

TEST_F(SignalsTest, InQuickSuccessionAreOne) {
  const auto program = started();
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) program->signal(signal);
  EXPECT_EQ(program->wait().code, 130);
  EXPECT_TRUE(fs::exists(merged())) << "it has taken the second for a user who insists";
}

TEST_F(SignalsTest, AnAbortedRunKeepsItsRecords) {
  const auto program = started();
  program->signal(SIGABRT);
  const Outcome outcome = program->wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("a library has aborted"), std::string::npos) << outcome.err;
  EXPECT_GE(files(), 2);
}

TEST_F(SignalsTest, HangUpIsIgnoredUnderNohup) {
  const auto program = started(200, [] { std::signal(SIGHUP, SIG_IGN); });
  program->signal(SIGHUP);
  EXPECT_EQ(program->wait().code, 0);
}

}  // namespace
}  // namespace league::tests
