// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/host_caches.hpp"

#include <sched.h>

#include <fstream>
#include <map>
#include <string>

namespace league {
namespace {

struct Cache {
  int level = 0;
  std::string shared_by;
  std::int64_t bytes = 0;
};

std::int64_t unit_of(char suffix) {
  return suffix == 'K' ? 1 << 10 : suffix == 'M' ? 1 << 20 : suffix == 'G' ? 1 << 30 : 1;
}

/// The cache that a folder of the kernel's describes; level 0 if none.
Cache read_cache(const std::filesystem::path& folder) {
  Cache cache;
  std::ifstream(folder / "level") >> cache.level;
  std::ifstream(folder / "shared_cpu_list") >> cache.shared_by;
  char suffix = ' ';
  std::ifstream(folder / "size") >> cache.bytes >> suffix;
  cache.bytes *= unit_of(suffix);
  return cache;
}

}  // namespace

std::vector<int> allowed_processors() {
  std::vector<int> found;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) found.push_back(cpu);
  return found;
}

std::int64_t last_level_cache_bytes(const std::vector<int>& processors, const std::filesystem::path& root) {
  std::map<std::string, std::int64_t> caches;
  for (const int cpu : processors) {
    Cache last;
    for (int index = 0;; ++index) {
      const Cache cache =
          read_cache(root / ("cpu" + std::to_string(cpu)) / "cache" / ("index" + std::to_string(index)));
      if (cache.level == 0) break;
      if (cache.level > last.level) last = cache;
    }
    if (last.level > 0) caches[last.shared_by] = last.bytes;
  }
  std::int64_t total = 0;
  for (const auto& [shared_by, bytes] : caches) total += bytes;
  return total;
}

}  // namespace league
