// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier.hpp"
#include "algorithms/blocks/shard_sums.hpp"
#include "tests/algorithms/waiting_teams.hpp"

// Teams of two threads that wait for each other, on threads of the host.
namespace league::blocks {
namespace {

/// Each team sends its count to the one before, through one barrier per round.
std::vector<int> pass_on(int teams, int rounds, unsigned* word) {
  std::vector<int> counts(static_cast<std::size_t>(teams)), sent(static_cast<std::size_t>(2 * teams));
  run_teams(teams, 2, [&](const auto& group, int team) {
    int mine = 0;
    for (int round = 0; round < rounds; ++round) {
      int* of_round = sent.data() + (round & 1) * teams;
      if (group.rank == 0) of_round[team] = mine + 1;
      league_barrier(group, team, teams, word, HostAtomics{});
      mine = of_round[(team + 1) % teams];
    }
    if (group.rank == 0) counts[static_cast<std::size_t>(team)] = mine;
  });
  return counts;
}

TEST(LeagueBarrier, NoTeamPassesBeforeAllHaveArrived) {
  for (const int teams : {1, 2, 3, 5}) {
    unsigned word = 0;
    EXPECT_EQ(pass_on(teams, 101, &word), std::vector<int>(static_cast<std::size_t>(teams), 101)) << teams << " teams";
    EXPECT_EQ(pass_on(teams, 4, &word), std::vector<int>(static_cast<std::size_t>(teams), 4)) << "the same word again";
    EXPECT_EQ(word & 0x7fffffffU, 0U);
  }
}

TEST(LeagueBarrier, ATeamThatNeverArrivesEndsTheWait) {
  for (const int rank : {0, 1}) {
    unsigned word = 0;
    EXPECT_THROW(league_barrier(one_thread, rank, 2, &word, HostAtomics{1000}), GivenUp);
  }
}

TEST(LeagueBarrier, LeaguesThatWaitGrowWithTheirRows) {
  constexpr std::int64_t few = 1000;
  constexpr int multiprocessors = 132, most = 500;
  const auto league = [](std::int64_t rows) { return waiting_league(rows, few, multiprocessors, most); };
  EXPECT_EQ(league(0), 132);
  EXPECT_EQ(league(132 * few), 132);
  EXPECT_EQ(league(132 * few + 1), 264);
  EXPECT_EQ(league(2 * 132 * few + 1), 396);
  EXPECT_EQ(league(std::int64_t{1} << 40), most);
  EXPECT_EQ(waiting_league(1 << 20, few, 1, 1), 1) << "a host";
}

TEST(LeagueBarrier, ALeagueThatDoesNotFitAtOnceIsRefused) {
  require_at_once({132, 8, 32}, 132);
  try {
    require_at_once({133, 8, 32}, 132);
    FAIL();
  } catch (const Unsupported& refused) {
    EXPECT_STREQ(refused.what(),
                 "league 133: its teams wait for each other, and the device holds 132 teams of 256 threads at the same "
                 "time; launch no more than those");
  }
}

constexpr int values = 3;  // more than a team has threads

/// What a team adds in a step.
double share(int team, std::int64_t step, int value) { return team + 10.0 * value + 0.25 * static_cast<double>(step); }

/// All threads of a team.
template <class Barrier>
struct Receivers {
  Group<Barrier> team;
  double* scratch;
  [[nodiscard]] int rank() const { return team.rank; }
  [[nodiscard]] int size() const { return team.size; }
  static bool all(bool here) { return here; }
  [[nodiscard]] Sums<double, values> sum(const Sums<double, values>& mine) const {
    return sums_for_all(team, mine, scratch);
  }
};

TEST(LeagueAllReduce, EveryThreadGetsTheSumsOfItsStep) {
  constexpr std::int64_t steps = 101;
  for (const int teams : {1, 2, 3, 5}) {
    std::vector<stamped::Word> board(static_cast<std::size_t>(Slots<values>::board_words(teams)));
    std::vector<std::vector<double>> scratch(static_cast<std::size_t>(teams),
                                             std::vector<double>(team_sums_size<values>(2)));
    std::atomic<int> right = 0;
    run_teams(teams, 2, [&](const auto& group, int team) {
      double* of_team = scratch[static_cast<std::size_t>(team)].data();
      for (std::int64_t step = 0; step < steps; ++step) {
        Sums<double, values> mine;
        for (int i = 0; i < values; ++i) mine.values[i] = share(team, step, i);
        const auto sums =
            league_all_reduce(group, Receivers{group, of_team}, team, teams, mine, board.data(), step, HostAtomics{});
        for (int i = 0; i < values; ++i) right += sums.values[i] == teams * share(0, step, i) + teams * (teams - 1) / 2;
      }
    });
    EXPECT_EQ(right, 2 * teams * steps * values) << teams << " teams";
  }
}

TEST(LeagueAllReduce, ManySumsInScratchTakeOneTripOrTwo) {
  constexpr std::int64_t steps = 7;
  for (const int teams : {1, 2, 3})
    for (const int n : {1, 2, 5, 66}) {  // of two threads, 16 words are few
      std::vector<stamped::Word> board(static_cast<std::size_t>(all_reduce_words(n, teams)));
      std::atomic<int> right = 0;
      std::vector<std::vector<double>> sums(static_cast<std::size_t>(teams), std::vector<double>(n)), scratch = sums;
      for (auto& of_team : scratch) of_team.resize(static_cast<std::size_t>(n) + 2);
      run_teams(teams, 2, [&](const auto& group, int team) {
        double* mine = sums[static_cast<std::size_t>(team)].data();
        for (std::int64_t step = 0; step < steps; ++step) {
          for (int i = group.rank; i < n; i += group.size) mine[i] = share(team, step, i);
          group.barrier();
          league_all_reduce(group, team, teams, n, mine, board.data(), step, HostAtomics{},
                            scratch[static_cast<std::size_t>(team)].data());
          for (int i = 0; i < n; ++i) right += mine[i] == teams * share(0, step, i) + teams * (teams - 1) / 2;
          group.barrier();
        }
      });
      EXPECT_EQ(right, 2 * teams * steps * n) << teams << " teams, " << n << " sums";
    }
}

TEST(LeagueAllReduce, MoreThanAFewSumsPassThroughScratch) {
  constexpr int many = few_sums + 3, threads = 3;
  constexpr std::int64_t steps = 9;
  for (const int teams : {1, 2, 4}) {
    std::vector<stamped::Word> board(static_cast<std::size_t>(league_sums_words<many>(teams)));
    std::vector<std::vector<double>> scratch(static_cast<std::size_t>(teams),
                                             std::vector<double>(received_size<many>(threads)));
    std::atomic<int> right = 0;
    run_teams(teams, threads, [&](const auto& group, int team) {
      double* of_team = scratch[static_cast<std::size_t>(team)].data();
      for (std::int64_t step = 0; step < steps; ++step) {
        Sums<double, many> mine;
        for (int i = 0; i < many; ++i) mine.values[i] = share(team, step, i);
        group.barrier();  // of the sums over the team
        const auto sums = league_all_reduce(group, Receivers{group, of_team}, team, teams, mine, board.data(), step,
                                            HostAtomics{}, of_team);
        for (int i = 0; i < many; ++i) right += sums.values[i] == teams * share(0, step, i) + teams * (teams - 1) / 2;
      }
    });
    EXPECT_EQ(right, threads * teams * steps * many) << teams << " teams";
  }
}

TEST(LeagueAllReduce, ATeamThatNeverSendsEndsTheWait) {
  std::vector<stamped::Word> board(static_cast<std::size_t>(Slots<values>::board_words(2)));
  EXPECT_THROW(league_all_reduce(one_thread, Receivers{one_thread, nullptr}, 0, 2, Sums<double, values>{}, board.data(),
                                 0, HostAtomics{1000}),
               GivenUp);
  std::vector<stamped::Word> words(static_cast<std::size_t>(all_reduce_words(values, 2)));
  double sums[values] = {}, scratch[values] = {};
  EXPECT_THROW(league_all_reduce(one_thread, 0, 2, values, sums, words.data(), 0, HostAtomics{1000}, scratch), GivenUp);
}

/// The receive slots of some shards, in one memory, and the counts of their all-reduces.
struct SlotsOfShards {
  SlotsOfShards(int shards, std::int64_t capacity)
      : words(static_cast<std::size_t>(shards), std::vector<stamped::Word>(4 * shards * capacity)),
        counts(static_cast<std::size_t>(shards)),
        view{.shards = shards, .capacity = capacity} {
    for (std::size_t i = 0; i < words.size(); ++i) view.words[i] = words[i].data();
  }
  ShardSums of(int shard) {
    DeviceView own = view;
    own.self = shard;
    own.count = &counts[static_cast<std::size_t>(shard)];
    return {true, own};
  }
  std::vector<std::vector<stamped::Word>> words;
  std::vector<unsigned> counts;
  DeviceView view;
};

TEST(ShardSums, EveryShardAddsAllInTheirOrder) {
  constexpr int steps = 7;
  const auto term = [](int shard, int step, int i) { return 0x1p-30 * (i + 1) + (shard == 0 ? 0x1p24 : 1.0 / step); };
  for (const int shards : {2, 3, 4})
    for (const int n : {1, 2, 5, 66}) {
      SlotsOfShards slots(shards, 66);
      std::atomic<int> right = 0;
      std::vector<std::vector<double>> sums(static_cast<std::size_t>(shards), std::vector<double>(n));
      for (const int solve : {1, 2})  // the count goes on
        run_teams(shards, 2, [&](const auto& group, int shard) {
          double* mine = sums[static_cast<std::size_t>(shard)].data();
          const ShardSums all = slots.of(shard);
          for (int step = 1; step <= steps; ++step) {
            for (int i = group.rank; i < n; i += group.size) mine[i] = term(shard, solve * step, i);
            all.add(group, n, mine, HostAtomics{});
            for (int i = group.rank; i < n; i += group.size) {
              double sum = 0;
              for (int other = 0; other < shards; ++other) sum += term(other, solve * step, i);
              right += mine[i] == sum;
            }
          }
        });
      EXPECT_EQ(right, 2 * shards * steps * n) << shards << " shards, " << n << " sums";
      EXPECT_EQ(slots.counts, std::vector<unsigned>(static_cast<std::size_t>(shards), 2 * steps));
    }
}

TEST(ShardSums, AloneThereIsNothingToAdd) {
  for (const bool takes_step : {false, true})
    with_shards(ShardSums{takes_step}, [&](const auto& shards) {
      double sum = 3;
      shards.add(one_thread, 1, &sum, HostAtomics{});
      EXPECT_EQ(sum, 3);
      EXPECT_EQ(shards.takes_step, takes_step);
    });
}

TEST(ShardSums, AShardThatNeverSendsEndsTheWait) {
  SlotsOfShards slots(2, 1);
  double sum = 3;
  const auto add = [&](const auto& shards) { shards.add(one_thread, 1, &sum, HostAtomics{1000}); };
  EXPECT_THROW(with_shards(slots.of(1), add), GivenUp);
}

/// Sums of n values over a team of `size` threads in T, twice with the same scratch, by all threads.
template <class T, int n>
void expect_team_sums(int size) {
  std::vector<double> scratch(static_cast<std::size_t>(team_sums_size<n>(size)) + 1, -1);
  std::atomic<int> right = 0;
  std::barrier barrier(size);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        const auto team = group_of(rank, size, [&] { barrier.arrive_and_wait(); });
        for (const int turn : {0, 1}) {
          Sums<T, n> mine;
          for (int i = 0; i < n; ++i) mine.values[i] = static_cast<T>(turn + i + (rank + 1) * (rank + 1));
          const auto sums = sums_for_all(team, mine, scratch.data());
          for (int i = 0; i < n; ++i)
            right += sums.values[i] == size * (turn + i) + size * (size + 1) * (2 * size + 1) / 6;
        }
      });
  }
  EXPECT_EQ(right, 2 * size * n) << n << " values, " << size << " threads";
  EXPECT_EQ(scratch.back(), -1) << "more scratch than promised";
}

TEST(TeamSums, EveryThreadGetsThem) {
  for (const int size : {1, 2, 3, 4, 5, 63, 64, 65, 130}) {
    expect_team_sums<double, 1>(size);
    expect_team_sums<float, 5>(size);
    expect_team_sums<double, 8>(size);
    expect_team_sums<double, 19>(size);
  }
}

TEST(TeamSums, AreAddedInTheOrderOfThePartsFourAtATime) {
  const float parts[] = {0x1p24F, 1, -0x1p24F, 1, 0.5F, 0.25F};  // ((2^24 + 1) + (-2^24 + 1)) + (0.5 + 0.25)
  EXPECT_EQ(ordered_sums<1>(parts, 4).values[0], 1);
  EXPECT_EQ(ordered_sums<1>(parts, 6).values[0], 1.75);
  EXPECT_EQ(ordered_sums<2>(parts, 2).values[1], 2);
  EXPECT_EQ(ordered_sums<1>(parts, 1).values[0], 0x1p24);
  EXPECT_EQ(ordered_sums<1>(parts, 0).values[0], 0);
}

TEST(StampedWords, AreThereWithTheirStampOnly) {
  stamped::Word low = 0, high = 0;
  double value = 0;
  stamped::publish(&low, &high, -0x1.23456789abcdep+100, 7);
  EXPECT_FALSE(stamped::arrived(&low, &high, 6, value));
  EXPECT_FALSE(stamped::arrived(&low, &low, 8, value));
  EXPECT_EQ(value, 0);
  EXPECT_TRUE(stamped::arrived(&low, &high, 7, value));
  EXPECT_EQ(value, -0x1.23456789abcdep+100);
  stamped::publish(&low, &high, 2.0, 8);
  high = 0;
  EXPECT_FALSE(stamped::arrived(&low, &high, 8, value)) << "half of a value";

  float single = 0;
  stamped::publish(&low, nullptr, -1.5F, 9);
  EXPECT_TRUE(stamped::arrived(&low, nullptr, 9, single));
  EXPECT_EQ(single, -1.5F);
  std::int32_t whole = 0;
  stamped::publish(&low, nullptr, -5, 10);
  EXPECT_TRUE(stamped::arrived(&low, nullptr, 10, whole));
  EXPECT_EQ(whole, -5);
}

}  // namespace
}  // namespace league::blocks
