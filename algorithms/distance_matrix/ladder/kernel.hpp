// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/blocks/pairs.hpp"
#include "algorithms/distance_matrix/common/shard.hpp"

/// The naive methods on a GPU, the same in CUDA and Kokkos: which pair of points a thread takes, and what it reads.
namespace league::distance_matrix {

/// A block of rows of the matrix, as pairs of points.
template <class T>
struct Pairs {
  std::int64_t n, dimension, first, rows;  ///< `first` is global
  bool euclidean;
  const T* points;   ///< [n x dimension]
  T* by_coordinate;  ///< the same transposed, [dimension x n]; of the method that reads it
  T* out;            ///< [rows x n]

  [[nodiscard]] LEAGUE_FUNCTION std::int64_t count() const { return rows * n; }
  /// The point of a row of the block, and of a column; null beyond the last.
  [[nodiscard]] LEAGUE_FUNCTION const T* x(std::int64_t row) const {
    return row < rows ? points + (first + row) * dimension : nullptr;
  }
  [[nodiscard]] LEAGUE_FUNCTION const T* y(std::int64_t column) const {
    return column < n ? points + column * dimension : nullptr;
  }
  LEAGUE_FUNCTION void store(std::int64_t row, std::int64_t column, T squared) const {
    using std::sqrt;
    if (row < rows && column < n) out[row * n + column] = euclidean ? sqrt(squared) : squared;
  }
};

/// Neighbouring threads take neighbouring rows of the matrix: the stores of a warp are to as many rows, and so are its
/// loads.
struct DownColumns {
  static constexpr int max_team = 1024;
  static constexpr bool transposed = false;
  template <class T>
  static LEAGUE_FUNCTION void take(const Pairs<T>& pairs, std::int64_t pair) {
    const std::int64_t row = pair % pairs.rows, column = pair / pairs.rows;
    pairs.store(row, column, blocks::squared_distance<T>(pairs.dimension, pairs.x(row), 1, pairs.y(column), 1));
  }
};

/// Neighbouring threads take neighbouring columns: the stores are coalesced, the loads of the columns' points are not.
struct AlongRows {
  static constexpr int max_team = 1024;
  static constexpr bool transposed = false;
  template <class T>
  static LEAGUE_FUNCTION void take(const Pairs<T>& pairs, std::int64_t pair) {
    const std::int64_t row = pair / pairs.n, column = pair % pairs.n;
    pairs.store(row, column, blocks::squared_distance<T>(pairs.dimension, pairs.x(row), 1, pairs.y(column), 1));
  }
};

/// The same by teams of one thread: a warp has one lane at work.
struct Alone : AlongRows {
  static constexpr int max_team = 1;
};

/// Neighbouring threads take neighbouring columns, and read the points coordinate by coordinate: loads and stores are
/// coalesced.
struct ByCoordinate {
  static constexpr int max_team = 1024;
  static constexpr bool transposed = true;
  template <class T>
  static LEAGUE_FUNCTION void take(const Pairs<T>& pairs, std::int64_t pair) {
    const std::int64_t row = pair / pairs.n, column = pair % pairs.n;
    const T *x = pairs.by_coordinate + pairs.first + row, *y = pairs.by_coordinate + column;
    pairs.store(row, column, blocks::squared_distance<T>(pairs.dimension, x, pairs.n, y, pairs.n));
  }
  /// Transposes element `at` of the points.
  template <class T>
  static LEAGUE_FUNCTION void transpose(const Pairs<T>& pairs, std::int64_t at) {
    pairs.by_coordinate[at % pairs.dimension * pairs.n + at / pairs.dimension] = pairs.points[at];
  }
};

/// Computes tile `item` of the matrix, one pair per thread, the points through scratch. @pre all threads call
template <class T, class Group>
LEAGUE_FUNCTION void take_tile(const Pairs<T>& pairs, blocks::PairTile tile, std::int64_t item, const Group& group,
                               T* scratch) {
  const std::int64_t across = tile.across(pairs.n);
  const std::int64_t row = item / across * tile.high, column = item % across * tile.wide;
  const T squared = tile.squared_distance(
      group, pairs.dimension, [&](int i) { return pairs.x(row + i); }, [&](int j) { return pairs.y(column + j); },
      scratch);
  pairs.store(row + group.rank / tile.wide, column + group.rank % tile.wide, squared);
}

/// Memory of the naive methods.
template <class T, template <class> class Array>
struct PairMemory {
  PairMemory(DistanceShard& shard, bool transposed) : problem(shard.problem()) {
    if (transposed) shard.declare(by_coordinate, "distance_matrix/by_coordinate", problem.n * problem.dimension);
    shard.declare_matrix(points, out, {});
  }
  [[nodiscard]] Pairs<T> pairs(Range range) const {
    return {problem.n,         problem.dimension, range.begin,          range.size(),
            problem.euclidean, points.data(),     by_coordinate.data(), out.data()};
  }

  const DistanceMatrix& problem;
  Array<T> points, out, by_coordinate;
};

/// The limits of a method whose teams have `Take::max_team` threads at most.
template <class Take>
LaunchLimits limits_of(LaunchLimits limits) {
  if (Take::max_team < limits.team_times_vector) limits = {Take::max_team, Take::max_team, "this method"};
  return limits;
}

}  // namespace league::distance_matrix
