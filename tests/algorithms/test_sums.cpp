// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "algorithms/blocks/subgroup.hpp"
#include "algorithms/blocks/sums.hpp"

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

TEST(Sums, StartAtZeroAndAddElementwise) {
  Sums<double, 3> sums;
  sums += {{1, 2, 3}};
  sums += {{10, 20, 30}};
  EXPECT_EQ(sums.values[0], 11);
  EXPECT_EQ(sums.values[2], 33);
}

}  // namespace
}  // namespace league::blocks
