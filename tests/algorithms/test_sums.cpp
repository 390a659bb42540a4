// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "algorithms/blocks/subgroup.hpp"
#include "algorithms/blocks/sums.hpp"
#include "tests/fibers.hpp"

// The reductions of the GPU kernels, emulated: one value holds all lanes of a warp, in lockstep.
namespace league::blocks {
namespace {

/// The same variable of all lanes.
template <int lanes>
struct Warp {
  std::array<double, lanes> values{};
  Warp& operator+=(const Warp& other) {
    for (int lane = 0; lane < lanes; ++lane) values[lane] += other.values[lane];
    return *this;
  }
};

/// As `shuffle_down`: a lane without source keeps its own value.
template <int lanes>
Warp<lanes> shuffle_down(const Warp<lanes>& warp, int offset) {
  Warp<lanes> above = warp;
  for (int lane = 0; lane + offset < lanes; ++lane) above.values[lane] = warp.values[lane + offset];
  return above;
}

template <int lanes>
void expect_sum_of_all_lanes() {
  Warp<lanes> warp;
  for (int lane = 0; lane < lanes; ++lane) warp.values[lane] = 1.0 + lane * lane;
  const double expected = std::accumulate(warp.values.begin(), warp.values.end(), 0.0);
  EXPECT_EQ(sum_lanes<lanes>(warp, shuffle_down<lanes>).values[0], expected) << lanes << " lanes";
  for (int one = 0; one < lanes; ++one) {  // each lane is added exactly once
    Warp<lanes> alone;
    alone.values[one] = 1;
    EXPECT_EQ(sum_lanes<lanes>(alone, shuffle_down<lanes>).values[0], 1) << "lane " << one << " of " << lanes;
  }
}

TEST(Sums, AddAllLanesOfWarpsOf32And64) {
  expect_sum_of_all_lanes<32>();
  expect_sum_of_all_lanes<64>();
  expect_sum_of_all_lanes<1>();
}

/// A lane of a simulated subgroup; lanes exchange values through memory.
template <int lanes>
struct FiberLanes {
  static constexpr int size = lanes;
  int rank;
  tests::FiberBarrier& all;
  std::array<double, lanes>& memory;
  [[nodiscard]] double across(double value, int offset) const {
    memory[static_cast<std::size_t>(rank)] = value;
    all.arrive_and_wait();
    const double other = memory[static_cast<std::size_t>(rank ^ offset)];
    all.arrive_and_wait();
    return other;
  }
  [[nodiscard]] double sum(double value, int of) const {
    for (int offset = of / 2; offset > 0; offset /= 2) value += across(value, offset);
    return value;
  }
};

/// Each of n sums is put once, and is the sum of all lanes' values.
template <int lanes, int n>
void expect_sums_over_lanes() {
  tests::FiberBarrier all(lanes);
  std::array<double, lanes> memory{};
  std::array<int, n> puts{};
  std::array<double, n> sums{};
  tests::run_fibers(lanes, [&](int rank) {
    double mine[n];
    for (int i = 0; i < n; ++i) mine[i] = 1000.0 * i + rank * rank;
    put_sums_over_lanes(FiberLanes<lanes>{rank, all, memory}, mine, [&](int i, double sum) {
      ++puts[static_cast<std::size_t>(i)];
      sums[static_cast<std::size_t>(i)] = sum;
    });
  });
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(puts[static_cast<std::size_t>(i)], 1) << "sum " << i << " of " << n;
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], lanes * 1000.0 * i + (lanes - 1) * lanes * (2 * lanes - 1) / 6);
  }
}

TEST(Sums, OfAllLanesAreSplitBetweenThem) {
  expect_sums_over_lanes<32, 1>();
  expect_sums_over_lanes<32, 9>();
  expect_sums_over_lanes<32, 32>();
  expect_sums_over_lanes<32, 34>();
  expect_sums_over_lanes<8, 27>();
  expect_sums_over_lanes<1, 3>();
}

TEST(Sums, StartAtZeroAndAddElementwise) {
  Sums<double, 3> sums;
  sums += {{1, 2, 3}};
  sums += {{10, 20, 30}};
  EXPECT_EQ(sums.values[0], 11);
  EXPECT_EQ(sums.values[2], 33);
}

}  // namespace
}  // namespace league::blocks
