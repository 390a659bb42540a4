// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <iostream>

#include "bench/cli/preview.hpp"
#include "tests/backends/wait_probe.hpp"
#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

// Kernels that wait for each other: they give up, and a profiler that runs kernels one at a time is never given them.
namespace league::tests {

WaitProbe& wait_probe_on_gpu() {
  static WaitProbe probe;
  return probe;
}

namespace {

class Waiting : public ::testing::Test {
 protected:
  void SetUp() override {
    if (runtime().gpus().empty()) GTEST_SKIP() << "needs a GPU";
    if (wait_probe_on_gpu().wait_in_vain == nullptr) GTEST_SKIP() << "this build has no probe for its GPUs";
  }
  static Queue& queue() { return runtime().queue(runtime().devices(DeviceKind::gpu, 1).front()); }
};
using WaitingDeathTest = Waiting;  // GoogleTest runs these first

TEST_F(WaitingDeathTest, EndsInATrap) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new process, with a device context of its own
  const auto fails = [](int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != 0; };
  EXPECT_EXIT(
      {
        try {
          wait_probe_on_gpu().wait_in_vain(queue());
        } catch (const std::exception& error) {
          std::cerr << "trapped: " << error.what() << std::endl;
          std::_Exit(1);
        }
        std::_Exit(0);
      },
      fails, "");
}

TEST_F(Waiting, FindsWhatWasSent) {
  for (const double value : {0.0, -1.5, 3.141592653589793, 1e300})
    EXPECT_EQ(wait_probe_on_gpu().send_and_receive(queue(), value), value);
}

bench::Case on_two_devices(const std::string& model) {
  bench::Case that{};
  that.algorithm = registry().algorithm("linear_regression");
  that.method = &that.algorithm->methods.front();
  that.model = model;
  that.devices = 2;
  return that;
}

TEST(Profile, TakesNoKernelsThatWaitForEachOther) {
  bench::Case that = on_two_devices("cuda");
  EXPECT_EQ(bench::replayable(that).communicator, "local_serialized");
  that.devices = 1;
  EXPECT_EQ(bench::replayable(that).communicator, "local");
  EXPECT_EQ(bench::replayable(on_two_devices("openmp")).communicator, "local") << "hosts have no kernels";
  that = on_two_devices("cuda");
  that.communicator = "auto";
  EXPECT_EQ(bench::replayable(that).communicator, "local_serialized") << "it may take local";
  that.communicator = "nccl";
  EXPECT_EQ(bench::replayable(that).communicator, "nccl") << "a study's own choice";
}

TEST(Profile, SaysWhichCommunicatorItTakes) {
  if (runtime().gpus().size() < 2) GTEST_SKIP() << "needs 2 GPUs, " << runtime().gpus().size() << " here";
  if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
  const TemporaryFolder folder;
  const auto study = folder.write(
      "study.toml",
      "algorithm = \"linear_regression\"\nmethods = \"block_reduce\"\nexecution = \"graph\"\nmodels = \"cuda\"\n"
      "sizes = {points = 501, features = 3}\nsteps = 5\ndevices = 2\nlaunches = \"auto\"\n");
  const Outcome names =
      run("league", {"run", study.string(), "--benchmark_list_tests", "--set", "null=false"}, folder.path());
  ASSERT_EQ(names.code, 0) << names.err;
  const std::string name = names.out.substr(0, names.out.find('\n'));
  const Outcome outcome =
      run("league", {"run", study.string(), "--profile", name, "--set", "null=false"}, folder.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("communicator 'local_serialized' in place of 'local'"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace league::tests
