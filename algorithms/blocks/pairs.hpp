// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/term.hpp"
#include "backends/launch.hpp"

/// Sums of squared differences of pairs of rows, as naive kernels compute them: a pair per thread.
namespace league::blocks {

/// The squared distance of two rows in D; their elements are `x_stride` and `y_stride` apart.
template <class D, class T>
LEAGUE_FUNCTION D squared_distance(std::int64_t size, const T* x, std::int64_t x_stride, const T* y,
                                   std::int64_t y_stride) {
  D sum = 0;
  for (std::int64_t k = 0; k < size; ++k)
    sum = DifferenceTerm::add(sum, static_cast<D>(x[k * x_stride]), static_cast<D>(y[k * y_stride]));
  return sum;
}

/// A tile of `high x wide` pairs, one per thread of a team. Its rows and columns come through scratch, `depth` elements
/// of each at a time, so that a team reads an element once.
struct PairTile {
  static constexpr int depth = 16, pitch = depth + 1;  ///< odd: no bank conflicts
  int high, wide;

  LEAGUE_FUNCTION std::int64_t across(std::int64_t columns) const { return (columns + wide - 1) / wide; }
  LEAGUE_FUNCTION std::int64_t count(std::int64_t rows, std::int64_t columns) const {
    return (rows + high - 1) / high * across(columns);
  }
  [[nodiscard]] std::size_t scratch() const { return static_cast<std::size_t>(high + wide) * pitch; }

  /// The squared distance in D of this thread's pair, row `rank / wide` and column `rank % wide`. `x(i)` and `y(j)`:
  /// the rows of the tile, null beyond the last. `values` [scratch()] is free again after a barrier.
  /// @pre all threads call
  template <class D, class Group, class X, class Y>
  LEAGUE_FUNCTION D squared_distance(const Group& group, std::int64_t size, const X& x, const Y& y, D* values) const {
    const D* mine = values + group.rank / wide * pitch;
    const D* other = values + (high + group.rank % wide) * pitch;
    D sum = 0;
    for (std::int64_t begin = 0; begin < size; begin += depth) {
      const auto here = static_cast<int>(begin + depth < size ? depth : size - begin);
      group.barrier();  // the elements before these are read
      for (int at = group.rank; at < (high + wide) * depth; at += group.size) {
        const int row = at / depth, k = at % depth;
        const auto* from = row < high ? x(row) : y(row - high);
        values[row * pitch + k] = from != nullptr && k < here ? static_cast<D>(from[begin + k]) : D{0};
      }
      group.barrier();
      for (int k = 0; k < here; ++k) sum = DifferenceTerm::add(sum, mine[k], other[k]);
    }
    return sum;
  }
};

/// The launch of a thread per item, of `team` threads by default. @throws Unsupported beyond `limits`
inline Launch launch_for_items(Launch launch, const LaunchLimits& limits, int team, std::int64_t items) {
  launch = resolve(launch, {0, team, 1}, limits);
  if (launch.league == 0)
    launch.league = std::min(league_of(ceil_div<std::int64_t>(items, launch.team * launch.vector)), max_league);
  return launch;
}

/// The teams of a launch that have an item: a kernel with few items does not start all.
inline int busy_league(Launch launch, std::int64_t items) {
  return std::min(launch.league, league_of(ceil_div<std::int64_t>(items, launch.team * launch.vector)));
}

/// The launch of a team per tile whose threads are its rows and lanes its columns, `edge x edge` by default.
/// @throws Unsupported beyond `limits`, or 48 KB of scratch for tiles of D
template <class D>
Launch launch_for_tiles(Launch launch, const LaunchLimits& limits, int edge, std::int64_t rows, std::int64_t columns) {
  constexpr std::size_t everywhere = 48 << 10;
  launch = resolve(launch, {0, edge, edge}, limits);
  const PairTile tile{launch.team, launch.vector};
  require_scratch(tile.scratch() * sizeof(D), everywhere, "the rows and columns of a tile");
  if (launch.league == 0) launch.league = std::min(league_of(tile.count(rows, columns)), max_league);
  return launch;
}

}  // namespace league::blocks
