// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "algorithms/overheads/overheads.hpp"
#include "tests/algorithms/solved.hpp"
#include "tests/runtime.hpp"

// What is counted by kernels and by the host, and that less of it fails.
namespace league {
namespace {

std::unique_ptr<Overheads> make(const std::string& method, const std::string& teams, const std::string& repeats = "0",
                                Dtype dtype = Dtype::f32) {
  auto problem = std::make_unique<Overheads>(
      Making{{{{"teams", teams}, {"repeats", repeats}, {"bytes", "4096"}}}, dtype, 1, nullptr, method});
  problem->make_inputs({0, problem->extent()}, tests::runtime().host_memory());
  return problem;
}

std::vector<const Variant*> variants(const std::string& method) {
  return tests::variants<Overheads>([&](const Variant& variant) { return variant.method == method; });
}

struct Solved : tests::Solved {
  using tests::Solved::Solved;
  [[nodiscard]] std::vector<double> counts() const { return values(0); }
};

TEST(Overheads, EveryTeamCountsWhatWasMeasured) {
  for (const Method& method : registry().algorithm(Overheads::algorithm)->methods)
    for (const Dtype dtype : method.dtypes)
      for (const char* repeats : {"1", "2", "129"}) {
        SCOPED_TRACE(method.name + " " + repeats);
        const auto problem = make(method.name, "1", repeats, dtype);
        tests::everywhere<Solved>(variants(method.name), *problem, [&](Solved& run) {
          EXPECT_EQ(run.counts(), std::vector<double>{1.0 * problem->repeats});
          run.again();
          EXPECT_EQ(run.counts(), std::vector<double>{1.0 * problem->repeats}) << "the second time";
        });
      }
}

TEST(Overheads, TimesAreOfOneOfThem) {
  for (const auto& [method, repeats] : {std::pair{"launch", 100}, {"fence", 100}, {"team_reduction", 10000}}) {
    const auto problem = make(method, "2", "0", method == std::string("team_reduction") ? Dtype::f64 : Dtype::f32);
    EXPECT_EQ(problem->repeats, repeats);
    for (const Variant* variant : variants(method))
      EXPECT_EQ(Solved(*variant, *problem).prepared->timing().repeats, repeats) << tests::name_of(*variant);
  }
}

TEST(Overheads, ALeagueIsItsTeams) {
  const auto problem = make("launch", "3");
  for (const Variant* variant : variants("launch")) {
    if (variant->model.name != std::string_view("kokkos")) continue;
    EXPECT_THROW(Solved(*variant, *problem, {.launch = {.league = 2}}), Unsupported);
    EXPECT_EQ(Solved(*variant, *problem, {.launch = {.league = 3}}).counts(), std::vector<double>(3, 100));
  }
}

TEST(Overheads, ABarrierIsOfAllTeamsThatFitAtOnce) {
  for (const auto& [teams, fits_gpu] : {std::pair{"2", true}, {"3", true}, {"50", true}, {"100000", false}}) {
    const auto problem = make("league_barrier", teams, "1001");
    for (const Variant* variant : variants("league_barrier")) {
      SCOPED_TRACE(tests::name_of(*variant) + " teams " + teams);
      if (!fits_gpu || variant->model.device == DeviceKind::host) {
        EXPECT_THROW(Solved(*variant, *problem), Unsupported);
        continue;
      }
      for (const Launch launch : {Launch{}, Launch{0, 8, 8}, Launch{0, 1, 1}}) {
        Solved run(*variant, *problem, {.launch = launch});
        EXPECT_EQ(run.counts(), std::vector<double>(static_cast<std::size_t>(problem->teams), 1001));
        run.again();
        EXPECT_EQ(run.counts(), std::vector<double>(static_cast<std::size_t>(problem->teams), 1001));
      }
    }
  }
}

TEST(Overheads, AnAllocationIsInTheBudget) {
  const auto problem = make("allocation", "1");
  for (const Variant* variant : variants("allocation")) {
    SCOPED_TRACE(tests::name_of(*variant));
    EXPECT_GE(Solved(*variant, *problem).prepared->device_bytes(), 4096);
    EXPECT_THROW(Solved(*variant, *problem, {.budget = 4095}), Unsupported);
  }
}

TEST(Overheads, NothingDoneFails) {
  for (const char* method : {"launch", "fence", "allocation", "league_barrier"}) {
    const auto problem = make(method, "1", "3");
    for (const Variant* variant : variants(method)) {
      SCOPED_TRACE(tests::name_of(*variant));
      Solved run(*variant, *problem);
      run.prepared->reset();
      run.prepared->download();
      run.prepared->fence();
      EXPECT_FALSE(problem->check_alone(*run.outputs).passed());
    }
  }
}

TEST(Overheads, OneLessFails) {
  const auto problem = make("launch", "3", "7");
  Outputs outputs = problem->make_outputs({0, 3}, tests::runtime().host_memory());
  const std::span<double> counts = outputs.front().values.values<double>();
  std::ranges::fill(counts, 7);
  EXPECT_TRUE(problem->check_alone(outputs).passed());
  counts[1] = 6;
  EXPECT_FALSE(problem->check_alone(outputs).passed());
}

}  // namespace
}  // namespace league
