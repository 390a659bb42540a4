// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/bench/program.hpp"
#include "tests/bench/temporary.hpp"

// Environment variables that determine the number of threads: the record has the actual number.
namespace league::tests {
namespace {

using Json = nlohmann::json;
using Variables = std::vector<std::pair<std::string, std::string>>;

class EnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("league")) GTEST_SKIP() << "no league beside this program";
  }
  /// The merged record of a run with only these OpenMP variables set.
  Json record(const Variables& variables, const std::function<void()>& prepare = {}) {
    const auto study = folder_.write("study.toml",
                                     "algorithm = \"vector_add\"\nmethods = \"plain\"\nmodels = [\"openmp\", "
                                     "\"kokkos\"]\nsizes = 1000\nsamples = 3\nnull = false\n");
    outcome_ = run(
        "league",
        {"run", study.string(), "--records", (folder_.path() / "records").string(), "--benchmark_format=json"},
        folder_.path(), [&] {
          for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_DYNAMIC", "OMP_PLACES", "OMP_PROC_BIND"})
            unsetenv(name);
          for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
          if (prepare) prepare();
        });
    EXPECT_EQ(outcome_.code, 0) << outcome_.err;
    return Json::parse(outcome_.out);
  }
  static void expect_threads(const Json& record, const std::string& threads) {
    const Json& league = record.at("context").at("league");
    EXPECT_EQ(league.at("devices").at(0).at("threads"), threads);
    if (!league.at("backends").contains("openmp")) return;
    EXPECT_EQ(league.at("backends").at("openmp").at("max_threads"), threads);
    const Json& row = record.at("benchmarks").at(0);
    ASSERT_EQ(row.at("model"), "openmp");
    EXPECT_EQ(std::to_string(row.at("launch").at("league").get<int>()), threads);
  }

  TemporaryFolder folder_;
  Outcome outcome_;
};

TEST_F(EnvironmentTest, ThreadsAreThoseOfAParallelRegion) {
  expect_threads(record({{"OMP_NUM_THREADS", "1"}}), "1");
  expect_threads(record({{"OMP_NUM_THREADS", "3"}}), "3");
  expect_threads(record({{"OMP_NUM_THREADS", "3"}, {"OMP_THREAD_LIMIT", "1"}}), "1");
  expect_threads(record({{"OMP_THREAD_LIMIT", "1"}}), "1");
}

/// A second OpenMP runtime in the process would find the first thread bound to one processor.
TEST_F(EnvironmentTest, BoundThreadsAreAsMany) {
  const Json free = record({});
  const auto threads = free.at("context").at("league").at("devices").at(0).at("threads").get<std::string>();
  expect_threads(record({{"OMP_PROC_BIND", "close"}}), threads);
  expect_threads(record({{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}}), threads);
}

TEST_F(EnvironmentTest, ThreadsAreThoseOfTheProcessorsThatMayBeUsed) {
  const Json one = record({}, [] {
    cpu_set_t allowed, first;
    CPU_ZERO(&first);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (std::size_t i = 0; CPU_COUNT(&first) == 0; ++i)
      if (CPU_ISSET(i, &allowed)) CPU_SET(i, &first);
    sched_setaffinity(0, sizeof(first), &first);
  });
  expect_threads(one, "1");
}

TEST_F(EnvironmentTest, VariablesOfKokkosAreIgnoredAndSaid) {
  const Json list = Json::parse(run("league", {"list", "--json"}, folder_.path()).out);
  const auto is_kokkos = [](const Json& backend) { return backend.at("name") == "kokkos"; };
  if (std::ranges::none_of(list.at("backends"), is_kokkos)) GTEST_SKIP() << "no Kokkos in this build";
  const Variables wrong{{"KOKKOS_NUM_THREADS", "abc"},    {"KOKKOS_DEVICE_ID", "-7"},
                        {"KOKKOS_VISIBLE_DEVICES", "x"},  {"KOKKOS_MAP_DEVICE_ID_BY", "x"},
                        {"KOKKOS_DISABLE_WARNINGS", "x"}, {"KOKKOS_PRINT_CONFIGURATION", "x"},
                        {"KOKKOS_TUNE_INTERNALS", "x"},   {"OMP_NUM_THREADS", "1"}};
  const Outcome listed = run("league", {"list"}, folder_.path(), [&] {
    for (const auto& [name, value] : wrong) setenv(name.c_str(), value.c_str(), 1);
  });
  EXPECT_EQ(listed.code, 0) << listed.err;
  const Json all = record(wrong);
  expect_threads(all, "1");
  for (const char* said : {"KOKKOS_NUM_THREADS=abc", "KOKKOS_DEVICE_ID=-7", "KOKKOS_TUNE_INTERNALS=x", "ignored"}) {
    EXPECT_NE(outcome_.err.find(said), std::string::npos) << outcome_.err;
    EXPECT_NE(all.at("context").at("league").at("preflight").dump().find(said), std::string::npos);
  }
}

TEST_F(EnvironmentTest, MoreThreadsThanKokkosTakesSkipItsRowsOnly) {
  const Outcome listed = run("league", {"list"}, folder_.path(), [] { setenv("OMP_NUM_THREADS", "513", 1); });
  if (listed.code != 0) GTEST_SKIP() << listed.err;  // no more threads may be made here
  const Json all = record({{"OMP_NUM_THREADS", "513"}});
  expect_threads(all, "513");
  for (const Json& row : all.at("benchmarks"))
    if (row.at("model") == "kokkos" && row.at("device_kind") == "host") {
      EXPECT_EQ(row.at("status"), "skipped");
      EXPECT_NE(row.at("reason").get<std::string>().find("up to 512 threads"), std::string::npos) << row.at("reason");
    }
}

}  // namespace
}  // namespace league::tests
