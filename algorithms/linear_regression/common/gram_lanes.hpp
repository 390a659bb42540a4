// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/definite_solve.hpp"
#include "algorithms/blocks/recomputed.hpp"
#include "algorithms/blocks/streamed_rows.hpp"
#include "algorithms/linear_regression/common/gram.hpp"
#include "algorithms/linear_regression/common/lanes.hpp"

/// How a lane of the native kernels adds the moments, and the solve of the normal equations. Products and sums are of
/// doubles, so that products of floats are exact.
namespace league::linear_regression {

/// Adds one row's products of a block.
template <int width>
LEAGUE_FUNCTION void add_products(const double (&x)[width], double y, double (&sums)[Gram::of_block(width)]) {
  int at = 0;
  for (int i = 0; i < width; ++i)
    for (int j = i; j < width; ++j) sums[at++] += x[i] * x[j];
  for (int i = 0; i < width; ++i) sums[at++] += x[i] * y;
  for (int i = 0; i < width; ++i) sums[at++] += x[i];
  sums[at++] += y;
  sums[at] += y * y;
}
/// Adds one row's products of a pair of blocks.
template <int width>
LEAGUE_FUNCTION void add_cross_products(const double (&x)[width], const double (&y)[width],
                                        double (&sums)[width * width]) {
  for (int i = 0; i < width; ++i)
    for (int j = 0; j < width; ++j) sums[i * width + j] += x[i] * y[j];
}

/// The value at `row` of `width` columns from number `first`; 0 beyond the features.
template <class T, int width>
LEAGUE_FUNCTION void load_columns(const Columns<T>& data, int first, std::int64_t row, T (&x)[width]) {
  for (int f = 0; f < width; ++f) x[f] = first + f < data.features ? data.x[first + f][row] : T{0};
}

/// Bytes of a lane's access, and the lanes that share a multiprocessor: sums fill a lane's registers.
template <int width>
inline constexpr int block_bytes = width <= 4 ? 16 : 8;
template <int width>
inline constexpr int max_block_lanes = width == 1 ? 512 : 256;
template <int width>
inline constexpr int block_teams = width <= 4 ? 2 : 1;
template <int width>
inline constexpr int block_share = 2048 / (max_block_lanes<width> * block_teams<width>);

/// A GPU lane's share of the sums of block `a`.
template <class T, int width>
LEAGUE_FUNCTION Sums<double, Gram::of_block(width)> lane_products(const Columns<T>& data, int a, Place place) {
  Sums<double, Gram::of_block(width)> sums;
  const auto load = [&]<class Pack>(int c, std::int64_t number) {
    if (c == width) return reinterpret_cast<const Pack*>(data.y)[number];
    const int f = a * width + c;
    return f < blocks::recomputed(data.features, number) ? reinterpret_cast<const Pack*>(data.x[f])[number] : Pack{};
  };
  const auto add = [&](const T(&values)[width + 1]) {
    double row[width];
    for (int f = 0; f < width; ++f) row[f] = static_cast<double>(values[f]);
    add_products(row, static_cast<double>(values[width]), sums.values);
  };
  blocks::stream_rows<T, width + 1, block_bytes<width>>(load, data.rows, place.team * place.lanes + place.lane,
                                                        place.teams * place.lanes, add);
  return sums;
}

/// A GPU lane's share of the sums of the pair of blocks `a` and `b`.
template <class T, int width>
LEAGUE_FUNCTION Sums<double, width * width> lane_cross_products(const Columns<T>& data, int a, int b, Place place) {
  Sums<double, width * width> sums;
  for (std::int64_t i = place.team * place.lanes + place.lane; i < data.rows; i += place.teams * place.lanes) {
    T x[width], y[width];
    load_columns<T, width>(data, a * width, i, x);
    load_columns<T, width>(data, b * width, i, y);
    double left[width], right[width];
    for (int f = 0; f < width; ++f) left[f] = static_cast<double>(x[f]), right[f] = static_cast<double>(y[f]);
    add_cross_products(left, right, sums.values);
  }
  return sums;
}

/// Rows that a host thread turns into doubles at a time: they stay in its first cache.
inline constexpr int rows_per_tile = 64;

/// Rows of one column in double; zeros beyond `count`.
LEAGUE_FUNCTION void fill_tile(double (&tile)[rows_per_tile], double value, std::int64_t count) {
  for (int k = 0; k < rows_per_tile; ++k) tile[k] = k < count ? value : 0;
}
template <class T>
LEAGUE_FUNCTION void fill_tile(double (&tile)[rows_per_tile], const T* from, std::int64_t count) {
  if (count == rows_per_tile)
    for (int k = 0; k < rows_per_tile; ++k) tile[k] = static_cast<double>(from[k]);
  else
    for (int k = 0; k < rows_per_tile; ++k) tile[k] = k < count ? static_cast<double>(from[k]) : 0;
}

/// A host thread's share of all sums, which it adds to `sums` [Gram::sums()]: each as a vector of partial sums first,
/// four columns with one at a time.
template <class T>
LEAGUE_FUNCTION void range_products(const Columns<T>& data, const Gram& gram, Range rows, double* sums) {
  typedef double Vector __attribute__((vector_size(64)));
  constexpr int lanes = 8, vectors = rows_per_tile / lanes, group = 4;
  constexpr int columns = LinearRegression::max_features + 2;
  Vector tile[columns][vectors];
  Vector partial[columns * (columns + 1) / 2] = {};  // in the order of their use
  const int constant = gram.features, target = constant + 1;
  const auto fill = [&](int column, const auto& from, std::int64_t count) {
    double values[rows_per_tile];
    fill_tile(values, from, count);
    __builtin_memcpy(tile[column], values, sizeof(values));
  };
  for (std::int64_t first = rows.begin; first < rows.end; first += rows_per_tile) {
    const std::int64_t count = first + rows_per_tile < rows.end ? rows_per_tile : rows.end - first;
    for (int f = 0; f < constant; ++f) fill(f, data.x[f] + first, count);
    fill(constant, 1.0, count);
    fill(target, data.y + first, count);
    Vector* sum = partial;
    for (int i = 0; i <= target; ++i) {
      int j = i == constant ? target : i;  // the constant's product with itself is the count of rows
      for (; j + group <= target + 1; j += group) {
        Vector own[group] = {};
        for (int k = 0; k < vectors; ++k)
          for (int g = 0; g < group; ++g) own[g] += tile[i][k] * tile[j + g][k];
        for (int g = 0; g < group; ++g) *sum++ += own[g];
      }
      for (; j <= target; ++j) {
        Vector own = {};
        for (int k = 0; k < vectors; ++k) own += tile[i][k] * tile[j][k];
        *sum++ += own;
      }
    }
  }
  const Vector* sum = partial;
  for (int i = 0; i <= target; ++i)
    for (int j = i == constant ? target : i; j <= target; ++j, ++sum)
      for (int lane = 0; lane < lanes; ++lane) sums[gram.at(i, j)] += (*sum)[lane];
}

/// Doubles of scratch for the solve by a team of side * side threads.
template <int side>
constexpr int solve_scratch(const Gram& gram) {
  return blocks::definite_scratch<side>(gram.features + 1);
}

/// Solves the equations; all side * side threads of the group call. A pivot that is not above zero gives NaN. `rows` is
/// the product of the constant with itself.
template <int side, class Barrier>
LEAGUE_FUNCTION void solve_equations(const Gram& gram, std::int64_t rows, const double* sums, double* scratch,
                                     double* theta, const blocks::Group<Barrier>& group) {
  const int n = gram.features + 1;
  const auto matrix = [&](int i, int j) {
    return i == n - 1 && j == n - 1 ? static_cast<double>(rows) : sums[gram.at(i, j)];
  };
  const auto right = [&](int i) { return sums[gram.at(i, n)]; };
  blocks::solve_definite<side, LinearRegression::max_features + 1>(group, n, 0.0, matrix, right, scratch,
                                                                   [&](int i, double value) { theta[i] = value; });
}

}  // namespace league::linear_regression
