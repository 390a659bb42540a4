// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <thread>
#include <vector>

#include "algorithms/blocks/reduce.hpp"
#include "algorithms/logistic_regression/persistent/kernel.hpp"

namespace league::blocks {
namespace {

/// The sums of n values over each of `groups` parts of a team, [n x groups], with `at_once` values in a round.
template <int n, int groups, int at_once>
std::vector<double> sums_over_team(int size) {
  const int doubles = scratch_size(n, size, at_once);
  std::vector<double> scratch(static_cast<std::size_t>(doubles) + 1, -1), sums(n * groups, -1);
  std::barrier barrier(size);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        const auto team = group_of(rank, size, [&] { barrier.arrive_and_wait(); });
        team_sums<n, groups, at_once>(
            team, [&](int i) { return 0.1 * (i + 1) + rank / 3.0; }, scratch.data(),
            [&](int i, int group, double sum) { sums[static_cast<std::size_t>(i * groups + group)] = sum; });
      });
  }
  EXPECT_EQ(scratch.back(), -1) << "more scratch than promised";
  return sums;
}

template <int n, int groups>
void expect_alike(int size) {
  const std::vector<double> usual = sums_over_team<n, groups, values_at_once>(size);
  EXPECT_EQ((sums_over_team<n, groups, even_rounds(n)>(size)), usual) << n << " values, " << size << " threads";
  for (int i = 0; i < n; ++i)
    for (int group = 0; group < groups; ++group) {
      double expected = 0;
      for (int rank = group * size / groups; rank < (group + 1) * size / groups; ++rank)
        expected += 0.1 * (i + 1) + rank / 3.0;
      EXPECT_NEAR(usual[static_cast<std::size_t>(i * groups + group)], expected, 1e-12 * expected);
    }
}

TEST(Reduce, ValuesInARoundChangeNoBit) {
  for (const int size : {1, 3, 64}) {
    expect_alike<1, 1>(size);
    expect_alike<10, 1>(size);
    expect_alike<18, 1>(size);
  }
  expect_alike<18, 4>(8);
  expect_alike<18, 2>(34);
}

TEST(Reduce, EvenRoundsAreNoMore) {
  for (int n = 1; n < 100; ++n) {
    const int even = even_rounds(n), rounds = ceil_div(n, values_at_once);
    EXPECT_LE(even, values_at_once);
    EXPECT_EQ(ceil_div(n, even), rounds) << n;
    if (even > 1) {
      EXPECT_GT(ceil_div(n, even - 1), rounds) << n << ": fewer would do";
    }
  }
}

/// Kokkos promises 40 KB of scratch to a team on NVIDIA's GPUs, and nothing of several teams: three must fit into
/// these.
TEST(LogisticShards, ThreeTeamsOfThePersistentKernelHaveScratch) {
  constexpr int promised = 40'000;
  const auto bytes = []<int features>() {
    return sizeof(double) * static_cast<std::size_t>(logistic::persistent_scratch<features>(128)) +
           sizeof(logistic::OwnSolve<double, features>) + 48;
  };
  EXPECT_LE(3 * bytes.operator()<16>(), promised);
  EXPECT_LE(3 * bytes.operator()<32>(), promised);
  EXPECT_LE(3 * bytes.operator()<64>(), promised);
}

}  // namespace
}  // namespace league::blocks
