// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "bench/ranks/cores.hpp"
#include "bench/ranks/places.hpp"
#include "bench/ranks/variables.hpp"
#include "tests/bench/temporary.hpp"
#include "tests/runtime.hpp"

namespace league::bench {
namespace {

Json place(int rank, const std::string& host, const std::string& cores, std::vector<int> visible, int own) {
  Json bus_ids = Json::array();
  for (const int number : visible) bus_ids.push_back("0000:0" + std::to_string(number) + ":00.0");
  const Json gpu = {{"index", own}, {"bus_id", "0000:01:00.0"}, {"numa_node", 1}, {"peers", "1"}};
  return {{"rank", rank},
          {"local_rank", rank},
          {"host", host},
          {"threads", 4},
          {"cores", cores},
          {"numa_nodes", "0-1"},
          {"gpus", Json::array({gpu})},
          {"visible_gpus", bus_ids},
          {"variables", Json::object()}};
}

TEST(Places, OfThisProcess) {
  const Json places = places_of(tests::runtime());
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].at("rank"), 0);
  EXPECT_EQ(places[0].at("threads"), tests::runtime().host_threads());
  EXPECT_EQ(places[0].at("visible_gpus").size(), tests::runtime().gpus().size());
  EXPECT_FALSE(places[0].at("cores").get<std::string>().empty());
  EXPECT_EQ(hosts_of(places), 1);
  EXPECT_TRUE(text_of_place(places[0]).starts_with("rank 0 on " + places[0].at("host").get<std::string>() + ": "));
}

TEST(Places, InOneLine) {
  Json one = place(1, "a", "4-7,9", {0, 1}, 1);
  one["variables"]["CUDA_VISIBLE_DEVICES"] = "0,1";
  EXPECT_EQ(text_of_place(one),
            "rank 1 on a: GPU 1 (0000:01:00.0, NUMA node 1, peer access to 1), cores 4-7,9 (NUMA node 0-1), 4 threads, "
            "CUDA_VISIBLE_DEVICES=0,1");
}

TEST(Places, WellBoundRanksAreNoFault) {
  EXPECT_EQ(binding_faults({place(0, "a", "0-3", {0, 1}, 0), place(1, "a", "4-7", {0, 1}, 1)}),
            std::vector<std::string>{});
  // One GPU each, but on hosts of their own; the same cores, but on hosts of their own.
  const Json apart = {place(0, "a", "0-3", {0}, 0), place(1, "b", "0-3", {1}, 0)};
  EXPECT_EQ(binding_faults(apart), std::vector<std::string>{});
  EXPECT_EQ(hosts_of(apart), 2);
}

TEST(Places, HiddenGpusHaveNoPeerAccess) {
  const auto faults = binding_faults({place(0, "a", "0-3", {0}, 0), place(1, "a", "4-7", {1}, 0)});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].starts_with("ranks 0 and 1 on a see different GPUs: ")) << faults[0];
  EXPECT_NE(faults[0].find("--gpu-bind=none"), std::string::npos);
}

TEST(Places, CoresFarFromTheGpu) {
  Json far = place(0, "a", "0-3", {0}, 0);
  far["numa_nodes"] = "0,2-3";
  EXPECT_EQ(binding_faults(Json::array({far})),
            std::vector<std::string>{"rank 0 on a: GPU 0 is at NUMA node 1, the rank's cores are at 0,2-3"});
  far["gpus"][0]["numa_node"] = -1;  // the machine does not say
  EXPECT_EQ(binding_faults(Json::array({far})), std::vector<std::string>{});
}

TEST(Places, AProcessHasMoreThreadsThanCores) {
  Json one = place(0, "a", "0", {0}, 0);
  one["threads"] = 2;
  const auto faults = binding_faults(Json::array({one}));
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].starts_with("2 threads on 1 core, on which they take turns: set OMP_NUM_THREADS=1"))
      << faults[0];
  one["cores"] = "0-1";
  EXPECT_EQ(binding_faults(Json::array({one})), std::vector<std::string>{});
}

TEST(Places, MoreThreadsThanCores) {
  const auto faults = binding_faults({place(0, "a", "0-4", {0}, 0), place(1, "a", "2-6", {0}, 0)});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].starts_with("the 2 ranks on a have 8 threads on 7 cores: set OMP_NUM_THREADS")) << faults[0];
}

TEST(Cores, OfAHybridProcessorAreOfSeveralKinds) {
  const tests::TemporaryFolder root;
  const auto write = [&](const std::string& name, const char* text) {
    std::filesystem::create_directories((root.path() / name).parent_path());
    root.write(name, text);
  };
  EXPECT_TRUE(kinds_of({0, 1}, root.path()).empty());
  write("sys/devices/cpu_core/cpus", "0-3\n");
  EXPECT_EQ(kinds_of({0, 1}, root.path()).size(), 1U);
  write("sys/devices/cpu_atom/cpus", "4-7\n");
  EXPECT_EQ(kinds_of({2, 3, 4}, root.path()), (std::vector<std::set<int>>{{4}, {2, 3}}));
  EXPECT_EQ(kinds_of({2, 3}, root.path()).size(), 1U) << "the threads are on one kind";
  const tests::TemporaryFolder arm;
  for (const auto& [core, capacity] : {std::pair("0", "446\n"), std::pair("1", "1024\n")}) {
    const std::string folder = std::string("sys/devices/system/cpu/cpu") + core;
    std::filesystem::create_directories(arm.path() / folder);
    arm.write(folder + "/cpu_capacity", capacity);
  }
  EXPECT_EQ(kinds_of({0, 1}, arm.path()).size(), 2U);
}

TEST(Variables, SayWhatTheyDoToARun) {
  const auto fault = [](const Json& variables) {
    const auto faults = variable_faults(variables);
    return faults.size() == 1 ? faults[0] : std::to_string(faults.size()) + " faults";
  };
  EXPECT_EQ(fault({{"CUDA_VISIBLE_DEVICES", "GPU-5ae2,GPU-17c4"}, {"OMP_PLACES", "cores"}}), "0 faults");
  EXPECT_EQ(fault({{"CUDA_LAUNCH_BLOCKING", "0"}}), "0 faults");
  EXPECT_TRUE(fault({{"CUDA_LAUNCH_BLOCKING", "1"}}).starts_with("CUDA_LAUNCH_BLOCKING=1: the host waits"));
  EXPECT_EQ(fault({{"CUDA_VISIBLE_DEVICES", ""}}), "CUDA_VISIBLE_DEVICES=: it is empty, and hides all GPUs");
  EXPECT_NE(fault({{"CUDA_VISIBLE_DEVICES", "GPU-5ae2,GPU-5ae2"}}).find("names 'GPU-5ae2' twice"), std::string::npos);
  EXPECT_NE(fault({{"HIP_VISIBLE_DEVICES", "0,-1,1"}}).find("entry '-1' is no GPU"), std::string::npos);
}

}  // namespace
}  // namespace league::bench
