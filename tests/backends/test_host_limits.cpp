// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "backends/host_limits.hpp"
#include "tests/bench/temporary.hpp"

// Limits by control groups, in files as the kernel has them.
namespace league {
namespace {

namespace fs = std::filesystem;

/// The files of a system of its own, with 8 GiB of free memory.
class HostLimits : public ::testing::Test {
 protected:
  HostLimits() { write("proc/meminfo", "MemTotal:  9000000 kB\nMemAvailable:  8388608 kB\n"); }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((root_.path() / name).parent_path());
    root_.write(name, content);
  }
  void mount_second(const std::string& group, const std::string& of_process) const {
    write("proc/self/mountinfo", "30 23 0:26 " + group + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
    write("proc/self/cgroup", "0::" + of_process + "\n");
  }
  void mount_first() const {
    write("proc/self/mountinfo",
          "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "32 23 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    write("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n");
  }
  void expect_memory(std::int64_t bytes, const std::string& limit) const {
    const FreeMemory memory = free_host_memory(root_.path());
    EXPECT_EQ(memory.free_bytes, bytes);
    EXPECT_EQ(memory.limit, limit);
  }

  tests::TemporaryFolder root_;
};

TEST_F(HostLimits, TheMachineIsOneWithoutGroups) {
  expect_memory(std::int64_t{8} << 30, "");
  EXPECT_EQ(cpu_quota(root_.path()), 0);
}

TEST_F(HostLimits, EveryAncestorOfAGroupCounts) {
  mount_second("/", "/slice/job");
  write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  write("sys/fs/cgroup/slice/job/cpu.max", "400000 100000\n");
  expect_memory(std::int64_t{8} << 30, "");
  EXPECT_EQ(cpu_quota(root_.path()), 4);
  write("sys/fs/cgroup/slice/memory.max", "1000000000\n");
  write("sys/fs/cgroup/slice/memory.current", "600000000\n");
  write("sys/fs/cgroup/slice/memory.stat", "anon 300000000\ninactive_file 200000000\nactive_file 50000000\n");
  write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  expect_memory(650000000, "memory.max of the control group");
  EXPECT_EQ(cpu_quota(root_.path()), 1.5);
}

TEST_F(HostLimits, OfAContainerItsOwnGroupIsMounted) {
  mount_second("/containers/c1", "/containers/c1");
  write("sys/fs/cgroup/memory.high", "5000\n");
  expect_memory(5000, "memory.high of the control group");
  mount_second("/containers/c1", "/");  // with a namespace of its own
  expect_memory(5000, "memory.high of the control group");
}

TEST_F(HostLimits, TheFirstVersionHasAHierarchyForEachController) {
  mount_first();
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1500000\n");
  write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 400000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  expect_memory(900000, "memory.limit_in_bytes of the control group");
  EXPECT_EQ(cpu_quota(root_.path()), 0.5);
}

TEST_F(HostLimits, AreReadAgainEachTime) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "AddressSanitizer takes more address space than there is memory";
#endif
  mount_second("/", "/job");
  for (const int bytes : {2000, 1000}) {
    write("sys/fs/cgroup/job/memory.max", std::to_string(bytes));
    expect_memory(bytes, "memory.max of the control group");
  }
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit none_left{1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &none_left), 0);
  const FreeMemory memory = free_host_memory();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(memory.free_bytes, 0);
  EXPECT_EQ(memory.limit, "ulimit -v");
}

TEST_F(HostLimits, SharedMemoryThatIsMissingIsTold) {
  const std::string fault = shared_memory_fault(root_.path() / "none");
  EXPECT_NE(fault.find("none cannot be written, and NCCL may not start"), std::string::npos) << fault;
}

}  // namespace
}  // namespace league
