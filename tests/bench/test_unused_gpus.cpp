// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/cli/unused_gpus.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

namespace fs = std::filesystem;

TEST(UnusedGpus, AreThoseThatTheDriversList) {
  const tests::TemporaryFolder root;
  const auto node = [&](const std::string& number, const char* id) {
    const std::string folder = "sys/class/kfd/kfd/topology/nodes/" + number;
    fs::create_directories(root.path() / folder);
    root.write(folder + "/gpu_id", id);
  };
  EXPECT_EQ(gpus_of_drivers(root.path()), "");
  node("0", "0\n");
  EXPECT_EQ(gpus_of_drivers(root.path()), "") << "a processor";
  node("1", "51230\n");
  EXPECT_EQ(gpus_of_drivers(root.path()), "1 AMD GPU");
  for (const char* bus : {"0000:3b:00.0", "0000:86:00.0"})
    fs::create_directories(root.path() / "proc/driver/nvidia/gpus" / bus);
  EXPECT_EQ(gpus_of_drivers(root.path()), "2 NVIDIA GPUs and 1 AMD GPU");
}

TEST(UnusedGpus, AreToldWhereNoneIsUsed) {
  const tests::TemporaryFolder root;
  EXPECT_EQ(unused_gpus(tests::runtime(), root.path()), "");
  fs::create_directories(root.path() / "proc/driver/nvidia/gpus/0000:3b:00.0");
  const std::string told = unused_gpus(tests::runtime(), root.path());
  if (tests::runtime().gpus().empty())
    EXPECT_TRUE(told.starts_with("1 NVIDIA GPU here, and NONE IS USED: ")) << told;
  else
    EXPECT_EQ(told, "");
}

}  // namespace
}  // namespace league::bench
