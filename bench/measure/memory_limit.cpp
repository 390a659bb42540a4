// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/memory_limit.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string_view>

#include "algorithms/contract/budget.hpp"
#include "backends/array.hpp"

namespace league::bench {
namespace {

/// A value of a file of /proc, in kB there; 0 if absent.
rlim_t read_bytes(const char* file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
  return 0;
}

}  // namespace

void limit_memory() {
  const rlim_t available = read_bytes("/proc/meminfo", "MemAvailable:");
  rlimit limit{};
  if (available == 0 || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const rlim_t wanted = read_bytes("/proc/self/status", "VmData:") + available / 20 * 19;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= wanted) return;
  limit.rlim_cur = wanted;
  setrlimit(RLIMIT_DATA, &limit);
}

std::int64_t spare_memory_bytes() {
  rlim_t spare = read_bytes("/proc/meminfo", "MemAvailable:");
  if (spare == 0) return std::numeric_limits<std::int64_t>::max();
  rlimit limit{};
  if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const rlim_t taken = read_bytes("/proc/self/status", "VmData:");
    spare = std::min(spare, limit.rlim_cur > taken ? limit.rlim_cur - taken : 0);
  }
  return static_cast<std::int64_t>(spare);
}

std::string out_of_host_memory(const std::bad_alloc& error) {
  const auto* of_array = dynamic_cast<const OutOfHostMemory*>(&error);
  const std::int64_t needed = of_array == nullptr ? 0 : of_array->total_bytes() - HostArray::total_bytes();
  return "out of host memory: " + (needed > 0 ? "needs at least " + readable_bytes(needed) + ", " : "") +
         readable_bytes(spare_memory_bytes()) + " are free";
}

}  // namespace league::bench
