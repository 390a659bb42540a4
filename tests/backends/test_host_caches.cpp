// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <fstream>

#include "backends/host_caches.hpp"
#include "tests/bench/temporary.hpp"

namespace league {
namespace {

namespace fs = std::filesystem;

void write_cache(const fs::path& root, int cpu, int index, int level, const char* size, const char* shared_by) {
  const fs::path folder = root / ("cpu" + std::to_string(cpu)) / "cache" / ("index" + std::to_string(index));
  fs::create_directories(folder);
  std::ofstream(folder / "level") << level << '\n';
  std::ofstream(folder / "size") << size << '\n';
  std::ofstream(folder / "shared_cpu_list") << shared_by << '\n';
}

TEST(HostCaches, EachLastLevelCacheCountsOnce) {
  const tests::TemporaryFolder folder;
  for (const int cpu : {0, 1, 2, 3}) {
    write_cache(folder.path(), cpu, 0, 1, "32K", std::to_string(cpu).c_str());
    write_cache(folder.path(), cpu, 1, 3, "16M", cpu < 2 ? "0-1" : "2-3");
    write_cache(folder.path(), cpu, 2, 2, "512K", std::to_string(cpu).c_str());
  }
  EXPECT_EQ(last_level_cache_bytes({0, 1, 2, 3}, folder.path()), 2 * (16 << 20));
  EXPECT_EQ(last_level_cache_bytes({3}, folder.path()), 16 << 20);
}

TEST(HostCaches, NoneIsKnownWhereNothingIsListed) {
  const tests::TemporaryFolder folder;
  EXPECT_EQ(last_level_cache_bytes({0, 1}, folder.path()), 0);
  EXPECT_EQ(last_level_cache_bytes({}, folder.path()), 0);
}

TEST(HostCaches, ThisProcessHasProcessors) { EXPECT_FALSE(allowed_processors().empty()); }

}  // namespace
}  // namespace league
