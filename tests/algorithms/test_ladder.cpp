// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <barrier>
#include <numeric>
#include <thread>
#include <vector>

#include "algorithms/blocks/pairs.hpp"
#include "algorithms/sum/ladder/kernel.hpp"

// What the threads of a team do together in the naive kernels, with threads of the host: in the tests of all variants
// such a team is one thread there.
namespace league {
namespace {

/// Calls `body(group)` on each of `size` threads that share a barrier.
template <class Body>
void with_group(int size, const Body& body) {
  std::barrier<> barrier(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] { body(blocks::group_of(rank, size, [&] { barrier.arrive_and_wait(); })); });
}

template <class Tree>
void expect_sums() {
  for (const int size : {1, 2, 3, 7, 8})
    for (const int count : {0, 1, 6, 8, 61}) {
      std::vector<float> values(static_cast<std::size_t>(count));
      std::iota(values.begin(), values.end(), 1.0F);
      std::vector<double> scratch(static_cast<std::size_t>(size), -1e9);
      double sum = -1;
      with_group(size, [&](const auto& group) {
        const double mine = sum::tree_sum<Tree>(group, values.data(), count, scratch.data());
        if (group.rank == 0) sum = mine;
      });
      EXPECT_EQ(sum, count * (count + 1) / 2) << size << " threads, " << count << " elements";
    }
}

TEST(Ladder, TreesAddEveryElementOnce) {
  expect_sums<sum::DivergentTree>();
  expect_sums<sum::SequentialTree>();
}

TEST(Ladder, ATileHasTheDistancesOfItsPairs) {
  constexpr int rows = 2, columns = 3;  // of which the last column does not exist
  for (const int size : {1, 15, 16, 17, 40}) {
    std::vector<int> x(static_cast<std::size_t>(rows * size)), y(static_cast<std::size_t>((columns - 1) * size));
    std::iota(x.begin(), x.end(), 0);
    std::iota(y.begin(), y.end(), -7);
    const blocks::PairTile tile{rows, columns};
    std::vector<std::int64_t> scratch(tile.scratch(), -1);
    std::int64_t squared[rows][columns] = {};
    with_group(rows * columns, [&](const auto& group) {
      squared[group.rank / columns][group.rank % columns] = tile.squared_distance(
          group, size, [&](int i) { return x.data() + i * size; },
          [&](int j) { return j < columns - 1 ? y.data() + j * size : nullptr; }, scratch.data());
    });
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns - 1; ++j)
        EXPECT_EQ(squared[i][j],
                  blocks::squared_distance<std::int64_t>(size, x.data() + i * size, 1, y.data() + j * size, 1))
            << size << " elements, row " << i << ", column " << j;
  }
}

TEST(Ladder, NoTeamIsWithoutAnItem) {
  EXPECT_EQ(blocks::busy_league({.league = 10, .team = 4, .vector = 2}, 17), 3);
  EXPECT_EQ(blocks::busy_league({.league = 2, .team = 4, .vector = 2}, 17), 2);
  EXPECT_EQ(blocks::busy_league({.league = 10, .team = 4, .vector = 2}, 0), 1);
}

}  // namespace
}  // namespace league
