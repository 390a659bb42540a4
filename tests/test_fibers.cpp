// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/fibers.hpp"

namespace league::tests {
namespace {

TEST(Fibers, SeeWhatTheOthersWroteBeforeABarrier) {
  constexpr int size = 300;
  FiberBarrier barrier(size);
  std::vector<int> values(size, 1), sums(size);
  run_fibers(size, [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    for (int round = 0; round < 3; ++round) {
      sums[at] = std::accumulate(values.begin(), values.end(), 0);
      barrier.arrive_and_wait();
      values[at] = sums[at];
      barrier.arrive_and_wait();
    }
    EXPECT_EQ(fiber_rank(), rank);
  });
  EXPECT_EQ(values, std::vector<int>(size, size * size * size));
}

TEST(Fibers, AMissingBarrierChangesTheResult) {
  constexpr int size = 64;
  int total = 0, agree = 0;
  run_fibers(size, [&](int) {
    ++total;  // no barrier: a fiber that comes early reads less
    agree += total == size ? 1 : 0;
  });
  EXPECT_EQ(agree, 1);
}

TEST(Fibers, EveryRoundHasAnotherOrder) {
  constexpr int size = 8;
  FiberBarrier barrier(size);
  std::vector<std::vector<int>> orders(6);
  run_fibers(size, [&](int rank) {
    for (auto& order : orders) {
      order.push_back(rank);
      barrier.arrive_and_wait();
    }
  });
  for (std::size_t i = 1; i < orders.size(); ++i) EXPECT_NE(orders[i], orders[i - 1]);
}

TEST(Fibers, ABarrierThatSomeDoNotReachIsAnError) {
  FiberBarrier barrier(3);
  const auto run = [&] {
    run_fibers(3, [&](int rank) {
      if (rank != 1) barrier.arrive_and_wait();
    });
  };
  EXPECT_THROW(run(), std::logic_error);
}

TEST(Fibers, AnErrorOfABodyIsThrown) {
  const auto run = [] {
    run_fibers(2, [](int rank) {
      if (rank == 1) throw std::runtime_error("of a body");
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  int calls = 0;
  run_fibers(5, [&](int) { ++calls; });
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace league::tests
