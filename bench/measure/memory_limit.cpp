// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/memory_limit.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>
#include <string_view>

namespace league::bench {
namespace {

/// A value in kB out of a file of the process file system; 0 if it is not there.
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

}  // namespace league::bench
