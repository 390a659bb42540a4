// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/cli/preflight.hpp"

namespace league::bench {
namespace {

std::vector<std::string> of(const std::vector<std::pair<std::string, std::string>>& facts) {
  DeviceInfo gpu;
  gpu.device.index = 1;
  gpu.facts = facts;
  return gpu_faults(gpu, 2);
}

TEST(Preflight, AGpuAloneWithItsDefaultsIsFine) {
  EXPECT_TRUE(of({}).empty());
  EXPECT_TRUE(of({{"other_processes", "0"}, {"mig", "off"}, {"peers", "1"}}).empty());
  EXPECT_TRUE(of({{"power_limit_W", "700"}, {"power_limit_default_W", "700"}}).empty());
}

TEST(Preflight, PeerAccessThatDoesNotWorkIsNamed) {
  const auto found = of({{"peers", "0"}, {"broken_peers", "0"}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NE(found[0].find("GPU 1: what it copies to GPU 0 does not arrive"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("NCCL_P2P_DISABLE=1"), std::string::npos) << found[0];
  EXPECT_NE(found[1].find("direct access to 0 of the 1 other GPUs"), std::string::npos) << found[1];
}

TEST(Preflight, ExclusiveModeSaysWhoElseNeedsTheGpu) {
  const auto found = of({{"compute_mode", "exclusive"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("GPU 1: only one process"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("nvidia-smi -c DEFAULT"), std::string::npos) << found[0];
}

TEST(Preflight, WhatElseDisturbsAGpuIsNamed) {
  EXPECT_EQ(of({{"other_processes", "2"}}).size(), 1U);
  EXPECT_EQ(of({{"mig", "on"}}).size(), 1U);
  EXPECT_EQ(of({{"power_limit_W", "400"}, {"power_limit_default_W", "700"}}).size(), 1U);
}

}  // namespace
}  // namespace league::bench
