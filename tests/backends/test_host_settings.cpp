// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <map>

#include "backends/host_settings.hpp"
#include "tests/bench/temporary.hpp"

namespace league {
namespace {

using Facts = std::map<std::string, std::string>;

Facts facts_in(const std::filesystem::path& root) {
  const auto all = host_settings(root);
  return {all.begin(), all.end()};
}

TEST(HostSettings, AreThoseThatTheSystemHasChosen) {
  const tests::TemporaryFolder root;
  const std::filesystem::path pages = root.path() / "sys/kernel/mm/transparent_hugepage";
  std::filesystem::create_directories(pages);
  std::filesystem::create_directories(root.path() / "proc/sys/kernel");
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  root.write("proc/sys/kernel/numa_balancing", "1\n");
  Facts facts = facts_in(root.path());
  EXPECT_EQ(facts["huge_pages"], "never");
  EXPECT_EQ(facts["numa_balancing"], "1");
}

TEST(HostSettings, AreLeftOutWhereTheSystemSaysNothing) {
  const Facts facts = facts_in("/nowhere");
  EXPECT_FALSE(facts.contains("huge_pages"));
  EXPECT_FALSE(facts.contains("numa_balancing"));
}

TEST(HostSettings, NameTheOpenMpLibrary) {
  const std::string library = facts_in("/")["openmp_library"];
  EXPECT_TRUE(std::filesystem::exists(library)) << library;
  EXPECT_NE(library.find("omp"), std::string::npos) << library;
  EXPECT_EQ(openmp_library_fault(), "");
}

}  // namespace
}  // namespace league
