// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/host_limits.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include "backends/split.hpp"

namespace league {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t no_limit = std::int64_t{1} << 62;  // cgroup v1 has a number of pages near 2^63 in its place

/// The first number of a file, or of its line that starts with `key`; -1 where there is none, as in "max".
std::int64_t number_of(const fs::path& file, std::string_view key = "") {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::int64_t number = 0;
    if (line.starts_with(key) && std::istringstream(line.substr(key.size())) >> number) return number;
  }
  return -1;
}

/// Where a hierarchy of control groups is mounted, and which of its groups lies there.
struct Mount {
  fs::path point, group;
};

/// The mounts of a controller: its own of cgroup v1, and that of v2.
std::vector<Mount> mounts_of(const std::string& controller, bool second, const fs::path& root) {
  std::vector<Mount> mounts;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    const std::vector<std::string> options = split(dash[3], ',');
    const bool first = dash[1] == "cgroup" && std::ranges::find(options, controller) != options.end();
    if (second ? dash[1] == "cgroup2" : first) mounts.push_back({words[4], words[3]});
  }
  return mounts;
}

/// The folder of a group and those of its ancestors, as far as they are mounted.
void add_folders(const Mount& mount, const fs::path& group, const fs::path& root, std::vector<fs::path>& folders) {
  const fs::path below = group.lexically_relative(mount.group);
  const bool outside = below.empty() || *below.begin() == ".." || below == ".";  // of a container: its own is mounted
  fs::path folder = root / mount.point.relative_path();
  folders.push_back(folder);
  if (outside) return;
  for (const fs::path& part : below) folders.push_back(folder /= part);
}

/// The folders of a controller ("memory", "cpu") that limit this process.
std::vector<fs::path> groups_of(const std::string& controller, const fs::path& root) {
  std::vector<fs::path> folders;
  std::ifstream file(root / "proc/self/cgroup");  // "4:memory:/group", of v2 "0::/group"
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::vector<std::string> names = split(line.substr(first + 1, second - first - 1), ',');
    if (!names.empty() && std::ranges::find(names, controller) == names.end()) continue;
    for (const Mount& mount : mounts_of(controller, names.empty(), root))
      add_folders(mount, line.substr(second + 1), root, folders);
  }
  return folders;
}

/// The files with limits of the memory of this process.
std::vector<fs::path> memory_limits(const fs::path& root) {
  std::vector<fs::path> files;
  for (const fs::path& group : groups_of("memory", root))
    for (const char* name : {"memory.max", "memory.high", "memory.limit_in_bytes"})
      if (std::ifstream(group / name)) files.push_back(group / name);
  return files;
}

/// What a group leaves below a limit; its file cache can be dropped.
std::int64_t left_in(const fs::path& group, std::int64_t limit) {
  const std::int64_t used = std::max(number_of(group / "memory.current"), number_of(group / "memory.usage_in_bytes"));
  std::int64_t cache = 0;
  for (const char* kind : {"inactive_file ", "active_file "})
    cache += std::max<std::int64_t>(
        {number_of(group / "memory.stat", std::string("total_") + kind), number_of(group / "memory.stat", kind), 0});
  return std::max<std::int64_t>(0, limit - std::max<std::int64_t>(0, used - cache));
}

/// In processors; 0: none.
double quota_of(const fs::path& group) {
  std::int64_t quota = 0, period = 0;
  if (!(std::ifstream(group / "cpu.max") >> quota >> period)) {
    quota = number_of(group / "cpu.cfs_quota_us");
    period = number_of(group / "cpu.cfs_period_us");
  }
  return quota > 0 && period > 0 ? static_cast<double>(quota) / static_cast<double>(period) : 0;
}

void limit_by(FreeMemory& memory, std::int64_t left, const std::string& limit) {
  if (left < memory.free_bytes) memory = {std::max<std::int64_t>(0, left), limit};
}

void limit_by_groups(FreeMemory& memory, const fs::path& root) {
  static const std::vector<fs::path> here = memory_limits("/");  // a process stays in its groups
  for (const fs::path& file : root == "/" ? here : memory_limits(root))
    if (const std::int64_t limit = number_of(file); limit >= 0 && limit < no_limit)
      limit_by(memory, left_in(file.parent_path(), limit), file.filename().string() + " of the control group");
}

/// The limit that this process was started with, whatever it has set since.
rlim_t users_data_limit() {
  static const rlim_t limit = [] {
    rlimit now{};
    return getrlimit(RLIMIT_DATA, &now) == 0 ? now.rlim_cur : RLIM_INFINITY;
  }();
  return limit;
}

std::int64_t taken_bytes(const char* key) {
  return std::max<std::int64_t>(0, number_of("/proc/self/status", key)) * 1024;
}

void limit_by_resource(FreeMemory& memory, rlim_t limit, const char* taken, const char* name) {
  if (limit < static_cast<rlim_t>(unlimited))
    limit_by(memory, static_cast<std::int64_t>(limit) - taken_bytes(taken), name);
}

}  // namespace

FreeMemory free_host_memory(const fs::path& root) {
  const std::int64_t available = number_of(root / "proc/meminfo", "MemAvailable:");
  FreeMemory memory{available < 0 ? unlimited : available * 1024};
  limit_by_groups(memory, root);
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0) limit_by_resource(memory, space.rlim_cur, "VmSize:", "ulimit -v");
  limit_by_resource(memory, users_data_limit(), "VmData:", "ulimit -d");
  return memory;
}

void limit_data_size() {
  const std::int64_t left = free_host_memory().free_bytes;
  rlimit limit{};
  if (left == unlimited || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  limit.rlim_cur = std::min(users_data_limit(), static_cast<rlim_t>(taken_bytes("VmData:") + left / 20 * 19));
  setrlimit(RLIMIT_DATA, &limit);
}

std::string shared_memory_fault(const fs::path& folder) {
  constexpr std::uintmax_t enough = std::uintmax_t{256} << 20;  // containers have 64 MB unless told otherwise
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const bool writable = !error && access(folder.c_str(), W_OK) == 0;
  if (writable && space.available >= enough) return {};
  return folder.string() +
         (writable ? " has " + std::to_string(space.available >> 20) + " MiB" : std::string(" cannot be written")) +
         ", and NCCL may not start between GPUs: start the container with --ipc=host or --shm-size=1g";
}

std::vector<std::string> process_faults() {
  std::vector<std::string> found;
  if (const int nice = getpriority(PRIO_PROCESS, 0); nice > 0)
    found.push_back("the niceness is " + std::to_string(nice) + ": other processes come first");
  const int policy = sched_getscheduler(0);
  if (policy == SCHED_IDLE || policy == SCHED_BATCH)
    found.push_back(std::string("the scheduling policy is SCHED_") + (policy == SCHED_IDLE ? "IDLE" : "BATCH") +
                    ": other processes come first (chrt)");
  if (number_of("/proc/self/status", "TracerPid:") > 0)
    found.emplace_back("a debugger or tracer is attached, which stops threads at system calls and signals");
  if (rlimit time{}; getrlimit(RLIMIT_CPU, &time) == 0 && time.rlim_cur != RLIM_INFINITY)
    found.push_back("the system ends this process after " + std::to_string(time.rlim_cur) +
                    " s of processor time (ulimit -t): go on with --resume");
  return found;
}

double cpu_quota(const fs::path& root) {
  double least = 0;
  for (const fs::path& group : groups_of("cpu", root))
    if (const double quota = quota_of(group); quota > 0 && (least == 0 || quota < least)) least = quota;
  return least;
}

}  // namespace league
