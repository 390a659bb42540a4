// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace league {

/// Host memory that this process can still take, and what limits it.
struct FreeMemory {
  std::int64_t free_bytes;
  std::string limit{};  ///< "memory.max of the control group", "ulimit -v"; empty: the memory of the machine
};

/// The least of what the machine has free, its control groups (cgroup v1 and v2) leave, and resource limits allow. A
/// limit that `limit_data_size` set does not count. `root`: where the system's files are.
FreeMemory free_host_memory(const std::filesystem::path& root = "/");

/// Lets allocations beyond the free memory fail: sets the resource limit of data (RLIMIT_DATA), never above that of the
/// user. Without it they succeed, and the kernel kills the process when the memory is touched.
void limit_data_size();

/// Why NCCL may not start for lack of shared memory, in a sentence; empty where there is enough. `folder`: where it is.
std::string shared_memory_fault(const std::filesystem::path& folder = "/dev/shm");

/// What holds this process back beside others, a scheduling policy or a debugger, and the processor time after which
/// the system ends it: in sentences.
std::vector<std::string> process_faults();

/// Processors' worth of time that the control groups allow (a quota of cgroup v1 or v2); 0: as much as there is.
double cpu_quota(const std::filesystem::path& root = "/");

}  // namespace league
