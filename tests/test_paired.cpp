// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/paired.hpp"
#include "tests/runtime.hpp"

// The simulated processes, against what real ones would see.
namespace league::tests {
namespace {

TEST(Paired, RanksSeeOneWorld) {
  std::vector<Range> local;
  on_ranks(2, 7, [&](Rank& rank) {
    EXPECT_EQ(rank.world.rows, (std::vector<Range>{{0, 4}, {4, 7}}));
    EXPECT_EQ(rank.shards.size(), 1U);
    EXPECT_EQ(rank.shards.front().index, rank.number);
    EXPECT_FALSE(rank.world.alone());
    local.push_back(rank.world.local_rows());
  });
  EXPECT_EQ(local.size(), 2U);
  EXPECT_NE(local[0], local[1]);
}

TEST(Paired, AddsInTheOrderOfTheShards) {
  const std::vector<double> terms{1e16, 1.0, -1e16, 3.0};  // another order gives another sum
  double expected = 0;
  for (const double term : terms) expected += term;
  std::vector<double> sums;
  for (const int ranks : {2, 4})
    on_ranks(
        ranks, 4,
        [&](Rank& rank) {
          std::vector<double> mine;
          std::vector<Buffer> buffers;
          for (const Shard& shard : rank.shards) mine.push_back(terms[static_cast<std::size_t>(shard.index)]);
          for (double& one : mine) buffers.push_back(buffer_of(&one, 1));
          rank.communicator->reserve(8);
          rank.communicator->all_reduce(buffers, Order::ordered);
          sums.insert(sums.end(), mine.begin(), mine.end());
        },
        4 / ranks);
  EXPECT_EQ(sums, std::vector<double>(8, expected));
}

/// A rank's numbers: 100 times its own, and counted on.
std::vector<int> numbers(const Rank& rank, int size) {
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 100 * rank.number);
  return all;
}

TEST(Paired, EveryOperation) {
  using Values = std::vector<int>;
  on_ranks(2, 2, [](Rank& rank) {
    const bool first = rank.number == 0;
    Communicator& communicator = *rank.communicator;
    communicator.reserve(5 * 4);
    Values mine = numbers(rank, 5);
    const std::vector<Buffer> buffers{buffer_of(mine.data(), 5)};
    const auto start = [&] { std::ranges::copy(numbers(rank, 5), mine.begin()); };
    communicator.all_reduce(buffers, Order::any);
    EXPECT_EQ(mine, (Values{100, 102, 104, 106, 108}));
    start();
    communicator.reduce_scatter(buffers, Order::ordered);
    if (first)
      EXPECT_TRUE(std::ranges::equal(std::span(mine).first(3), Values{100, 102, 104}));
    else
      EXPECT_TRUE(std::ranges::equal(std::span(mine).last(2), Values{106, 108}));
    start();
    communicator.all_gather(buffers);
    EXPECT_EQ(mine, (Values{0, 1, 2, 103, 104}));
    start();
    communicator.broadcast(buffers);
    EXPECT_EQ(mine, (Values{0, 1, 2, 3, 4}));
    start();
    Values whole(first ? 5 : 0);
    const std::vector<Buffer> piece{buffer_of(mine.data(), first ? 2 : 3)};
    communicator.gather(piece, buffer_of(whole.data(), static_cast<std::int64_t>(whole.size())));
    EXPECT_EQ(whole, (first ? Values{0, 1, 100, 101, 102} : Values{}));
  });
}

TEST(Paired, ExchangesWithPointersOfItsOwnEndOnly) {
  on_ranks(2, 2, [](Rank& rank) {
    std::vector<int> mine = numbers(rank, 4);
    const int other = 1 - rank.number;
    const std::vector<Transfer> transfers{{rank.number, other, &mine[2], nullptr, 4},
                                          {other, rank.number, nullptr, &mine[0], 4},
                                          {rank.number, rank.number, &mine[1], &mine[3], 4}};
    rank.communicator->exchange(transfers);
    EXPECT_EQ(mine,
              (std::vector{100 * other + 2, 100 * rank.number + 1, 100 * rank.number + 2, 100 * rank.number + 1}));
  });
}

TEST(Paired, ReplaysWhatWasRecorded) {
  on_ranks(2, 2, [](Rank& rank) {
    std::int64_t value = rank.number + 1;
    const std::vector<Buffer> buffers{buffer_of(&value, 1)};
    rank.communicator->reserve(8, Order::ordered, 1);
    Queue& queue = runtime().queue(rank.shards.front().device);
    Queue& beside = runtime().queue(rank.shards.front().device, 1);
    std::vector<Queue*> queues{&queue};
    const auto graph = runtime().record(queues, [&] {
      beside.wait_for(queue);
      rank.communicator->all_reduce(buffers, Order::ordered, 1);
      queue.wait_for(beside);
      queue.submit([&value] { value += 1; });
    });
    EXPECT_EQ(value, rank.number + 1);
    for (int i = 0; i < 3; ++i) graph->launch();
    EXPECT_EQ(value, ((3 + 1) * 2 + 1) * 2 + 1);
  });
}

TEST(Paired, ReducesOnTheHost) {
  on_ranks(2, 2, [](Rank& rank) {
    EXPECT_EQ(rank.reduce->sum_of(1.5 + rank.number), 4.0);
    EXPECT_EQ(rank.reduce->sum_of(std::int64_t{2} + rank.number), 5);
    EXPECT_EQ(rank.reduce->sum_of(0.25L), 0.5L);
    std::vector<double> largest{-1.0 - rank.number, 2.0 + rank.number};
    rank.reduce->max(largest);
    EXPECT_EQ(largest, (std::vector{-1.0, 3.0}));
    EXPECT_TRUE(rank.reduce->agree(7));
    EXPECT_FALSE(rank.reduce->agree(static_cast<std::uint64_t>(rank.number)));
  });
}

/// What `body` fails with, on two ranks.
template <class Body>
std::string failure(const Body& body) {
  try {
    on_ranks(2, 2, body);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Paired, NobodyWaitsForever) {
  double value = 0;
  const std::vector<Buffer> one{buffer_of(&value, 1)};
  EXPECT_EQ(failure([&](Rank& rank) {
              if (rank.number == 0) rank.communicator->broadcast(one);
            }),
            "broadcast of 1 f64: rank 0 waits, another has ended");
  EXPECT_EQ(failure([&](Rank& rank) {
              if (rank.number == 1) throw std::runtime_error("on purpose");
              rank.communicator->broadcast(one);
            }),
            "on purpose");
  EXPECT_EQ(failure([&](Rank& rank) {
              if (rank.number == 0)
                rank.communicator->broadcast(one);
              else
                rank.communicator->all_gather(one);
            }),
            "ranks differ in what they call: broadcast of 1 f64, all_gather of 1 f64");
  on_ranks(2, 2, [&](Rank& rank) { rank.communicator->broadcast(one); });  // and all goes on
}

TEST(Paired, OnlyWhereThereAreRanks) {
  const Partition world{{{0, 1}, {1, 2}}, 0, 1};
  const std::vector<Shard> shards{{{DeviceKind::host, 0, 1}, {0, 1}, 0}};
  double value = 0;
  const std::vector<Buffer> one{buffer_of(&value, 1)};
  EXPECT_THROW(make_communicator(runtime(), shards, world, "paired")->broadcast(one), std::logic_error);
  EXPECT_THROW(make_communicator(runtime(), shards, world, "local"), Unsupported);
}

}  // namespace
}  // namespace league::tests
