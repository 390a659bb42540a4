// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "algorithms/blocks/aligned_rows.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/launch.hpp"

/// The method `direct` on a GPU, the same in CUDA and Kokkos: the decomposition of the matrix, and a thread's part.
namespace league::distance_matrix {

/// Rows per thread, with the same columns in registers.
inline constexpr int direct_rows = 8;
/// Columns per thread: neighbours, stored as 16 bytes, where rows are 16-byte aligned; else every `lanes`-th, so that
/// the lanes' stores of single values are neighbours.
template <class T>
inline constexpr int direct_columns = blocks::Pack<T>::size;

/// A block of rows and its decomposition into items: strips of `direct_rows` rows x (lanes x direct_columns) columns.
template <class T>
struct Strips {
  int n, dimension;
  int first, rows;  ///< of the block; `first` is global
  bool euclidean;
  const T* points;          ///< [n x dimension]
  T* out;                   ///< [rows x n]
  int columns = 0;          ///< per item
  int lane_step = 0;        ///< from the first column of a lane to that of the next one
  int step = 0;             ///< from a lane's column to its next
  unsigned columns_of = 0;  ///< items per strip of rows
  unsigned items = 0;

  /// @throws Unsupported if the number of items exceeds 32 bits
  void share(int lanes) {
    columns = lanes * direct_columns<T>;
    lane_step = has_aligned_rows() ? direct_columns<T> : 1, step = has_aligned_rows() ? 1 : lanes;
    columns_of = static_cast<unsigned>(ceil_div(n, columns));
    const std::uint64_t all = std::uint64_t{columns_of} * static_cast<std::uint64_t>(ceil_div(rows, direct_rows));
    if (all > std::numeric_limits<unsigned>::max() / 2) throw Unsupported("too many strips for this team size");
    items = static_cast<unsigned>(all);
  }
  [[nodiscard]] LEAGUE_FUNCTION bool has_aligned_rows() const { return blocks::has_aligned_rows<T>(n); }
  LEAGUE_FUNCTION int first_row(unsigned item) const { return static_cast<int>(item / columns_of) * direct_rows; }
  LEAGUE_FUNCTION int first_column(unsigned item, int lane) const {
    return static_cast<int>(item % columns_of) * columns + lane * lane_step;
  }
};

/// Memory of `direct` on a GPU.
template <class T, template <class> class Array>
struct StripMemory {
  explicit StripMemory(DistanceShard& shard) : problem(shard.problem()) { shard.declare_matrix(points, out, {}); }
  [[nodiscard]] Strips<T> strips(Range range, Launch launch) const {
    Strips<T> strips{static_cast<int>(problem.n),
                     static_cast<int>(problem.dimension),
                     static_cast<int>(range.begin),
                     static_cast<int>(range.size()),
                     problem.euclidean,
                     points.data(),
                     out.data()};
    strips.share(launch.team * launch.vector);
    return strips;
  }
  /// Default: 256 lanes where these are thousands of items, else 128, in vectors of `vector` where neither team nor
  /// vector is given. @throws Unsupported as `resolve`
  [[nodiscard]] Launch configure(Launch launch, const LaunchLimits& limits, std::int64_t rows, int vector) const {
    const bool many = strips({0, rows}, {.team = 256, .vector = 1}).items >= 4096;
    const int lanes = many ? 256 : 128, wide = launch.team > 0 || launch.vector > 0 ? 1 : vector;
    launch = resolve(launch, {0, lanes / wide, wide}, limits);
    if (launch.league == 0) launch.league = league_of(strips({0, rows}, launch).items);
    launch.tile = direct_rows;
    return launch;
  }
  /// Calls `body.operator()<dimension>()`; dimension 0 is any.
  template <class Body>
  void with_dimension(const Body& body) const {
    switch (problem.dimension) {
      case 1:
        return body.template operator()<1>();
      case 2:
        return body.template operator()<2>();
      case 3:
        return body.template operator()<3>();
      case 4:
        return body.template operator()<4>();
      default:
        return body.template operator()<0>();
    }
  }

  const DistanceMatrix& problem;
  Array<T> points, out;
};

/// The points of a thread's columns, in registers; the index is clamped to the last point.
template <class T, int dimension>
struct Columns {
  static constexpr int count = direct_columns<T>;
  T y[count][dimension];

  LEAGUE_FUNCTION Columns(const Strips<T>& strips, int column) {
    const int last = strips.n - 1;
    for (int e = 0; e < count; ++e) {
      const int number = column + e * strips.step;
      const T* from = strips.points + std::int64_t{number < last ? number : last} * dimension;
      for (int k = 0; k < dimension; ++k) y[e][k] = from[k];
    }
  }
  LEAGUE_FUNCTION blocks::Pack<T> squared(const T (&x)[dimension]) const {
    blocks::Pack<T> sums;
    for (int e = 0; e < count; ++e) {
      T sum = 0;
      for (int k = 0; k < dimension; ++k) {
        const T d = x[k] - y[e][k];
        sum += d * d;
      }
      sums.values[e] = sum;
    }
    return sums;
  }
};

template <class T>
LEAGUE_FUNCTION blocks::Pack<T> roots(blocks::Pack<T> squared) {
  using std::sqrt;
  for (T& value : squared.values) value = sqrt(value);
  return squared;
}

/// Stores a thread's distances, up to the last of the `columns` columns that the row has from `to`.
template <class T>
LEAGUE_FUNCTION void store_some(const blocks::Pack<T>& distances, T* to, int columns, int step) {
  for (int e = 0; e < blocks::Pack<T>::size; ++e)
    if (e * step < columns) to[e * step] = distances.values[e];
}

/// A thread's part of an item: `store(Pack<T>*, Pack<T>)` is the model's 16-byte store, for whole strips of a matrix
/// with 16-byte aligned rows.
template <int dimension, class T, class Store>
LEAGUE_FUNCTION void walk_strip(const Strips<T>& strips, unsigned item, int lane, const Store& store) {
  const int first = strips.first_row(item), column = strips.first_column(item, lane);
  if (column >= strips.n) return;
  const Columns<T, dimension> columns(strips, column);
  const T* from = strips.points + std::int64_t{strips.first + first} * dimension;
  T* to = strips.out + std::int64_t{first} * strips.n + column;
  if (first + direct_rows <= strips.rows && strips.has_aligned_rows()) {
    T x[direct_rows][dimension];  // all loads before the first store, to overlap them
    for (int r = 0; r < direct_rows; ++r)
      for (int k = 0; k < dimension; ++k) x[r][k] = from[r * dimension + k];
    for (int r = 0; r < direct_rows; ++r, to += strips.n) {
      const blocks::Pack<T> squared = columns.squared(x[r]);
      store(reinterpret_cast<blocks::Pack<T>*>(to), strips.euclidean ? roots(squared) : squared);
    }
  } else {
    for (int r = 0; r < direct_rows && first + r < strips.rows; ++r, to += strips.n) {
      T x[dimension];
      for (int k = 0; k < dimension; ++k) x[k] = from[r * dimension + k];
      const blocks::Pack<T> squared = columns.squared(x);
      store_some(strips.euclidean ? roots(squared) : squared, to, strips.n - column, strips.step);
    }
  }
}

/// The same for any dimension: sums in registers, coordinates from memory.
template <class T, class Store>
LEAGUE_FUNCTION void walk_strip_any(const Strips<T>& strips, unsigned item, int lane, const Store& store) {
  constexpr int count = direct_columns<T>;
  const int first = strips.first_row(item), column = strips.first_column(item, lane);
  if (column >= strips.n) return;
  const int last_row = strips.rows - 1 - first, last_column = strips.n - 1;
  const T *x[direct_rows], *y[count];
  for (int r = 0; r < direct_rows; ++r)
    x[r] = strips.points + std::int64_t{strips.first + first + (r < last_row ? r : last_row)} * strips.dimension;
  for (int e = 0; e < count; ++e) {
    const int number = column + e * strips.step;
    y[e] = strips.points + std::int64_t{number < last_column ? number : last_column} * strips.dimension;
  }
  blocks::Pack<T> squared[direct_rows] = {};
  for (int k = 0; k < strips.dimension; ++k)
    for (int e = 0; e < count; ++e) {
      const T coordinate = y[e][k];
      for (int r = 0; r < direct_rows; ++r) {
        const T d = x[r][k] - coordinate;
        squared[r].values[e] += d * d;
      }
    }
  T* to = strips.out + std::int64_t{first} * strips.n + column;
  for (int r = 0; r < direct_rows; ++r, to += strips.n) {
    if (first + r >= strips.rows) return;
    const blocks::Pack<T> distances = strips.euclidean ? roots(squared[r]) : squared[r];
    if (strips.has_aligned_rows())
      store(reinterpret_cast<blocks::Pack<T>*>(to), distances);
    else
      store_some(distances, to, strips.n - column, strips.step);
  }
}

}  // namespace league::distance_matrix
