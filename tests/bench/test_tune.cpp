// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "bench/errors.hpp"
#include "bench/measure/clock.hpp"
#include "bench/measure/interval.hpp"
#include "bench/tune/search.hpp"
#include "bench/tune/verified.hpp"

// The search, on variants that exist on paper only: no clock decides a test.
namespace league::bench {
namespace {

/// A variant whose team, league and tile are free; a rule says how long a launch takes.
class PaperTrial : public Trial {
 public:
  explicit PaperTrial(std::function<double(const Launch&)> seconds) : seconds_(std::move(seconds)) {}

  Launch configure(const Launch& launch) override {
    ++configured;
    if (launch.vector > 1) throw Unsupported("vector " + std::to_string(launch.vector));
    const auto pick = [](int wanted, int default_value) { return wanted > 0 ? wanted : default_value; };
    launch_ = {pick(launch.league, 7), pick(launch.team, 5), 1, pick(launch.tile, 0)};
    return launch_;
  }
  Verdict check() override {
    ++checked[label(launch_)];
    Verdict verdict{.rows_checked = 1};
    if (wrong && wrong(launch_)) verdict.fail("nonsense");
    return verdict;
  }
  double sample() override {
    order.push_back(label(launch_));
    EXPECT_TRUE(checked.contains(label(launch_))) << "timed before it was checked";
    return seconds_(launch_);
  }

  std::function<bool(const Launch&)> wrong;
  std::map<std::string, int> checked;
  std::vector<std::string> order;
  int configured = 0;

 protected:
  Launch launch_;

 private:
  std::function<double(const Launch&)> seconds_;
};

const Candidate& best_of(const Searched& found) { return found.candidates.at(found.best); }

const Candidate* find(const Searched& found, const Launch& requested) {
  const auto one = std::ranges::find(found.candidates, requested, &Candidate::requested);
  return one == found.candidates.end() ? nullptr : &*one;
}

const Grid small_grid{.teams = {{.team = 1, .vector = 1},
                                {.team = 2, .vector = 1},
                                {.team = 4, .vector = 1},
                                {.team = 5, .vector = 1},
                                {.team = 2, .vector = 2}},
                      .leagues = {8, 16}};

TEST(Search, FindsTheBestTeamAndLeague) {
  PaperTrial trial([](const Launch& launch) {
    return (launch.team == 4 ? 1.0 : launch.team == 2 ? 1.2 : 1.4) - (launch.league == 16 ? 0.3 : 0);
  });
  const Searched found = search(trial, small_grid, {}, 6);
  EXPECT_TRUE(found.passed());
  EXPECT_EQ(best_of(found).requested, (Launch{.league = 16, .team = 4, .vector = 1}));
  EXPECT_EQ(best_of(found).effective, (Launch{16, 4, 1, 0}));
  EXPECT_EQ(best_of(found).samples.size(), 6U);
  EXPECT_EQ(found.candidates.front().requested, Launch{}) << "the automatic launch comes first";
  EXPECT_EQ(found.candidates.front().samples.size(), 6U) << "and is in the final, however slow";
}

TEST(Search, RecordsWhatIsRefusedAndTriesNoLaunchTwice) {
  PaperTrial trial([](const Launch&) { return 1.0; });
  const Searched found = search(trial, small_grid, {}, 3);
  const Candidate* refused = find(found, {.team = 2, .vector = 2});
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->status, Status::skipped);
  EXPECT_EQ(refused->reason, "vector 2");
  EXPECT_TRUE(refused->samples.empty());
  EXPECT_EQ(find(found, {.team = 5, .vector = 1}), nullptr) << "in effect the automatic launch";
  std::set<std::string> effective;
  for (const Candidate& one : found.candidates) {
    const bool is_new = effective.insert(label(one.effective)).second;
    EXPECT_TRUE(is_new || one.status != Status::passed) << label(one.effective);
  }
}

TEST(Search, AWrongCandidateNeverWins) {
  PaperTrial trial([](const Launch& launch) { return launch.team == 4 ? 0.1 : launch.team == 2 ? 0.8 : 1.0; });
  trial.wrong = [](const Launch& launch) { return launch.team == 4; };
  const Searched found = search(trial, small_grid, {}, 6);
  EXPECT_EQ(find(found, {.team = 4, .vector = 1})->status, Status::failed);
  EXPECT_EQ(find(found, {.team = 4, .vector = 1})->reason, "wrong: nonsense");
  EXPECT_TRUE(find(found, {.team = 4, .vector = 1})->samples.empty());
  EXPECT_EQ(best_of(found).requested.team, 2);
}

TEST(Search, AWinnerThatGoesWrongLaterLosesToTheNext) {
  PaperTrial trial([](const Launch& launch) { return launch.team == 4 ? 0.6 : launch.team == 2 ? 0.8 : 1.0; });
  trial.wrong = [&](const Launch& launch) { return launch.team == 4 && trial.checked[label(launch)] > 1; };
  const Searched found = search(trial, small_grid, {}, 6);
  EXPECT_EQ(find(found, {.team = 4, .vector = 1})->status, Status::failed);
  EXPECT_EQ(best_of(found).requested.team, 2);
}

TEST(Search, WhatThrowsIsItsOwnCandidate) {
  PaperTrial trial([](const Launch& launch) -> double {
    if (launch.team == 4) throw std::runtime_error("launch failed");
    return launch.team == 2 ? 0.5 : 1.0;
  });
  const Searched found = search(trial, small_grid, {}, 6);
  EXPECT_EQ(find(found, {.team = 4, .vector = 1})->reason, "launch failed");
  EXPECT_EQ(best_of(found).requested.team, 2);
  PaperTrial stopped([](const Launch&) -> double { throw Interrupted(); });
  EXPECT_THROW(search(stopped, small_grid, {}, 6), Interrupted);
}

TEST(Search, EndsWhereTheAutomaticLaunchIsWrong) {
  PaperTrial trial([](const Launch&) { return 1.0; });
  trial.wrong = [](const Launch& launch) { return launch.team == 5; };
  const Searched found = search(trial, small_grid, {}, 6);
  EXPECT_FALSE(found.passed());
  EXPECT_EQ(found.candidates.size(), 1U);
}

TEST(Search, AutomaticStaysUnlessTheOtherIsFasterBeyondNoise) {
  int draws = 0;
  PaperTrial noisy([&](const Launch& launch) {  // 1.0 +- 0.1 against 0.98 +- 0.1
    return (launch.team == 5 ? 1.0 : 0.98) + (++draws % 3 - 1) * 0.1;
  });
  EXPECT_EQ(search(noisy, small_grid, {}, 10).best, 0U);
  PaperTrial quiet([](const Launch& launch) { return launch.team == 5 ? 1.0 : 0.98; });
  EXPECT_NE(search(quiet, small_grid, {}, 10).best, 0U);
  PaperTrial flat([](const Launch&) { return 1.0; });
  EXPECT_EQ(search(flat, small_grid, {}, 10).best, 0U);
}

TEST(Search, HopelessOnesGetTwoSamplesAndTheFinalIsInTurn) {
  PaperTrial trial([](const Launch& launch) { return launch.team == 4 ? 2.0 : launch.team == 2 ? 0.9 : 1.0; });
  const Searched found = search(trial, {.teams = small_grid.teams, .leagues = {}}, {}, 10);
  EXPECT_EQ(find(found, {.team = 4, .vector = 1})->samples.size(), 2U);
  EXPECT_EQ(find(found, {.team = 2, .vector = 1})->samples.size(), 10U);
  const std::vector<std::string> final(trial.order.end() - 30, trial.order.end());  // of three launches
  for (int round = 0; round < 10; ++round) {
    const std::set<std::string> members(final.begin() + 3 * round, final.begin() + 3 * round + 3);
    EXPECT_EQ(members.size(), 3U) << "round " << round;
  }
}

TEST(Search, OneDisturbedSampleDoesNotEndACandidate) {
  int draws = 0;
  PaperTrial trial([&](const Launch& launch) {
    if (launch.team != 2) return 1.0;
    return ++draws == 1 ? 20.0 : 0.5;
  });
  EXPECT_EQ(best_of(search(trial, small_grid, {}, 6)).requested.team, 2);
}

TEST(Search, StaysWithinItsBudget) {
  PaperTrial trial([](const Launch&) { return 1.0; });
  const Searched found = search(trial, small_grid, {.candidates = 2}, 3);
  EXPECT_EQ(std::ranges::count(found.candidates, Status::passed, &Candidate::status), 3) << "two and the automatic one";
  PaperTrial timed([](const Launch&) { return 1.0; });
  EXPECT_EQ(search(timed, small_grid, {.candidates = 64, .seconds = 0}, 3).candidates.size(), 1U);
}

TEST(Verified, KnowsItsBitsAgain) {
  const auto outputs = [](std::int64_t size, float value, const std::string& form) {
    HostArray array(*std::pmr::new_delete_resource(), Dtype::f32, {size});
    std::ranges::fill(array.values<float>(), 1.0F);
    if (size > 0) array.values<float>().back() = value;
    return Outputs{{.name = "c", .values = array, .rows = {0, size}, .form = form}};
  };
  for (const std::int64_t size : {0, 1, 1 << 18, (1 << 18) + 1, 1'000'003}) {
    Verified verified;
    EXPECT_EQ(verified.find(outputs(size, 2, "")), nullptr) << "nothing is kept yet";
    Outputs first = outputs(size, NAN, "");
    verified.keep(first, {.rows_checked = size});
    if (size > 0) first[0].values.values<float>().back() = 5;  // what was kept is a copy
    ASSERT_NE(verified.find(outputs(size, NAN, "")), nullptr) << size;
    EXPECT_EQ(verified.find(outputs(size, NAN, ""))->rows_checked, size);
    EXPECT_EQ(verified.find(outputs(size, NAN, "expanded")), nullptr) << "has another bound";
    EXPECT_EQ(verified.find(outputs(size + 1, NAN, "")), nullptr);
    EXPECT_EQ(verified.find({}), nullptr);
    EXPECT_EQ(verified.find(outputs(size, 3, "")) == nullptr, size > 0);
  }
}

TEST(Search, TriesTilesWhereTheMethodHasOne) {
  class Tiled final : public PaperTrial {
    using PaperTrial::PaperTrial;
    Launch configure(const Launch& launch) override {
      launch_ = {1, 1, 1, launch.tile > 0 ? launch.tile : 64};
      return launch_;
    }
  } trial([](const Launch& launch) { return launch.tile == 32 ? 0.5 : 1.0; });
  const Searched found = search(trial, small_grid, {}, 6);
  EXPECT_EQ(best_of(found).requested, Launch{.tile = 32});
  std::set<int> tiles;
  for (const Candidate& one : found.candidates) tiles.insert(one.effective.tile);
  EXPECT_EQ(tiles, (std::set{16, 32, 64, 128, 256}));
}

TEST(Grid, HasPowersOfTwoOfAGpuAndTheThreadsOfAHost) {
  const Grid gpu = make_grid(DeviceKind::gpu, 132);
  EXPECT_EQ(gpu.teams.size(), 36U);
  EXPECT_EQ(gpu.teams.front(), (Launch{.team = 256, .vector = 1}));
  for (const Launch& launch : gpu.teams) {
    EXPECT_GE(launch.team * launch.vector, 32);
    EXPECT_LE(launch.team * launch.vector, 1024);
  }
  EXPECT_EQ(gpu.leagues, (std::vector{132, 264, 528, 1056, 2112, 4224}));
  const Grid host = make_grid(DeviceKind::host, 6);
  std::vector<int> teams;
  for (const Launch& launch : host.teams) teams.push_back(launch.team);
  EXPECT_EQ(teams, (std::vector{1, 2, 4, 6}));
  EXPECT_EQ(host.leagues, (std::vector{1, 2, 4, 6, 12, 24, 48, 96}));
  EXPECT_EQ(make_grid(DeviceKind::host, 1).teams.size(), 1U);
  EXPECT_EQ(tiles_around(64), (std::vector{32, 16, 128, 256}));
  EXPECT_TRUE(tiles_around(0).empty());
}

TEST(MedianInterval, IsOfTheSignTest) {
  const auto interval = [](std::size_t n) {
    std::vector<double> samples;
    for (std::size_t i = n; i > 0; --i) samples.push_back(static_cast<double>(i));
    const Interval found = median_interval(samples);
    return std::pair(found.low, found.high);
  };
  EXPECT_EQ(interval(1), std::pair(1.0, 1.0));
  EXPECT_EQ(interval(5), std::pair(1.0, 5.0)) << "too few: the range";
  EXPECT_EQ(interval(6), std::pair(1.0, 6.0));    // 2 x 1/64 = 3.1 %
  EXPECT_EQ(interval(8), std::pair(1.0, 8.0));    // 2 x 9/256 = 7.0 % with one less at each end
  EXPECT_EQ(interval(10), std::pair(2.0, 9.0));   // 2 x 11/1024 = 2.1 %
  EXPECT_EQ(interval(20), std::pair(6.0, 15.0));  // 2 x 21700/1048576 = 4.1 %
}

TEST(Budget, IsACountOrATime) {
  EXPECT_EQ(read_budget("12").candidates, 12);
  EXPECT_EQ(read_budget("90s").seconds, 90);
  EXPECT_GT(read_budget("90s").candidates, 1000);
  for (const char* text : {"", "0", "-3", "s", "12m", "1.5", "12 s"}) EXPECT_THROW(read_budget(text), BadInput) << text;
}

}  // namespace
}  // namespace league::bench
