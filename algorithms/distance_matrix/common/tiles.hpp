// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/aligned_rows.hpp"
#include "algorithms/blocks/product_tile.hpp"
#include "algorithms/distance_matrix/common/shard.hpp"
#include "backends/launch.hpp"

/// The tiled methods on a GPU, the same in CUDA and Kokkos: the tiles of the matrix, and the epilogue from sums to
/// distances.
namespace league::distance_matrix {

/// First row and column of a tile in the matrix.
struct Corner {
  int row, column;
};

/// A block of rows as tiles of `rows_ x columns_` on the grid of the whole matrix: a block that begins inside a tile
/// skips its upper rows, so that values do not depend on the blocking.
template <class T>
struct Tiles {
  int n, first, rows;  ///< `first` is global
  bool euclidean;
  blocks::Panels panels;
  const T *packed, *norms;  ///< all points as panels, and their squared norms
  T* out;                   ///< [rows x n]
  int first_tile = 0;
  unsigned columns_of = 0, items = 0;

  LEAGUE_FUNCTION int row(unsigned item, int height) const {
    return (first_tile + static_cast<int>(item / columns_of)) * height;
  }
  LEAGUE_FUNCTION int column(unsigned item, int width) const { return static_cast<int>(item % columns_of) * width; }

  /// The corner of tile `item` on or above the diagonal, `side` x `side`. Rows of tiles are paired, the longest with
  /// the shortest, so that all pairs have equally many tiles. @pre shared by `share_upper`
  LEAGUE_FUNCTION Corner upper_corner(unsigned item, int side) const {
    const unsigned pair = item / (columns_of + 1), number = item % (columns_of + 1), of_first = columns_of - pair;
    const bool is_first = number < of_first;
    const unsigned row = is_first ? pair : of_first - 1, column = is_first ? pair + number : number - 1;
    return {static_cast<int>(row) * side, static_cast<int>(column) * side};
  }

  template <class Shape>
  void share() {
    first_tile = first / Shape::rows;
    columns_of = static_cast<unsigned>(ceil_div(n, Shape::columns));
    items = static_cast<unsigned>(ceil_div(first + rows, Shape::rows) - first_tile) * columns_of;
  }
  /// Only tiles on and above the diagonal. @pre the whole matrix
  template <class Shape>
  void share_upper() {
    static_assert(Shape::rows == Shape::columns);
    share<Shape>();
    items = columns_of * (columns_of + 1) / 2;
  }
};

/// Calls `body.operator()<team>()` with the team size of a tile.
template <class Body>
void with_team(int team, const Body& body) {
  if (team == 256) return body.template operator()<256>();
  if (team == 128) return body.template operator()<128>();
  return body.template operator()<64>();
}

/// Memory of the tiled methods on a GPU: all points as panels, with their squared norms.
template <class T, Kind kind, template <class> class Array>
struct TileMemory {
  explicit TileMemory(DistanceShard& shard)
      : problem(shard.problem()), panels(shard.problem().n, shard.problem().dimension) {
    shard.declare(packed, "distance_matrix/packed", panels.size());
    shard.declare(norms, "distance_matrix/norms", panels.rows);
    shard.declare_matrix(points, out, form_of(kind, blocks::Panels::width));
  }
  /// For teams of `threads` threads.
  [[nodiscard]] Tiles<T> tiles(Range range, int threads) const {
    Tiles<T> tiles{static_cast<int>(problem.n),
                   static_cast<int>(range.begin),
                   static_cast<int>(range.size()),
                   problem.euclidean,
                   panels,
                   packed.data(),
                   norms.data(),
                   out.data()};
    with_team(threads, [&]<int team>() { tiles.template share<blocks::TileFor<T, team>>(); });
    return tiles;
  }

  /// The default team, for the rows of a block: 256 threads where their large tiles are some per multiprocessor, unless
  /// rows that are not aligned make stores take longer than the products; else 64.
  [[nodiscard]] int default_team(std::int64_t rows) const {
    constexpr int enough_tiles = 512, enough_products = 64;
    const bool store_bound = !blocks::has_aligned_rows<T>(problem.n) && problem.dimension < enough_products;
    if (!store_bound && tiles({0, rows}, 256).items >= enough_tiles) return 256;
    const bool one_tile = problem.n > blocks::TileFor<T, 64>::rows && problem.n <= blocks::TileFor<T, 128>::rows;
    return kind == Kind::symmetric && one_tile ? 128 : 64;  // a row of tiles has no mirror images to store
  }

  const DistanceMatrix& problem;
  blocks::Panels panels;
  Array<T> points, out, packed, norms;
};

/// A squared distance from |x|^2 + |y|^2 and x.y.
template <class T>
LEAGUE_FUNCTION T expanded_distance(T norms, T product, bool same_point) {
  const T squared = norms - 2 * product;
  return same_point || squared < 0 ? T{0} : squared;
}
/// A squared distance from the sum of a tile.
template <class Term, class T>
LEAGUE_FUNCTION T squared_distance(const Tiles<T>& tiles, int row, int column, T sum) {
  if constexpr (std::is_same_v<Term, blocks::ProductTerm>) {
    return expanded_distance(tiles.norms[row] + tiles.norms[column], sum, row == column);
  } else {
    return sum;
  }
}

/// Stores the roots of `pack` neighbouring distances, of which `there` exist; one vector store if rows are 16-byte
/// aligned.
template <class T, class Store>
LEAGUE_FUNCTION void store_distances(const Tiles<T>& tiles, T* to, blocks::Pack<T> squared, int there,
                                     const Store& store) {
  using std::sqrt;
  constexpr int pack = blocks::Pack<T>::size;
  if (tiles.euclidean)
    for (T& value : squared.values) value = sqrt(value);
  if (blocks::has_aligned_rows<T>(tiles.n))
    store(reinterpret_cast<blocks::Pack<T>*>(to), squared);
  else
    for (int e = 0; e < pack; ++e)
      if (e < there) to[e] = squared.values[e];
}

/// Epilogue: stores a thread's sums of the tile at (row, column); with `mirror`, their mirror images too.
template <class Shape, class Term, class T, class Store>
LEAGUE_FUNCTION void store_tile(const Tiles<T>& tiles, int thread, int row0, int column0,
                                const T (&sum)[Shape::thread_rows][Shape::thread_columns], bool mirror,
                                const Store& store) {
  constexpr int pack = Shape::pack;
  row0 += Shape::first_row(thread), column0 += Shape::first_column(thread);
  const int end = tiles.first + tiles.rows;
  for (int i = 0; i < Shape::thread_rows; ++i)
    for (int h = 0; h < Shape::thread_columns; h += pack) {
      const int row = row0 + Shape::row_step(i), column = column0 + Shape::column_step(h);
      if (row < tiles.first || row >= end || column >= tiles.n) continue;
      blocks::Pack<T> squared;
      for (int e = 0; e < pack; ++e) {
        const int there = column + e < tiles.n ? column + e : tiles.n - 1;
        squared.values[e] = squared_distance<Term>(tiles, row, there, sum[i][h + e]);
      }
      store_distances(tiles, tiles.out + std::int64_t{row - tiles.first} * tiles.n + column, squared, tiles.n - column,
                      store);
    }
  if (!mirror) return;
  for (int j = 0; j < Shape::thread_columns; ++j)
    for (int g = 0; g < Shape::thread_rows; g += pack) {
      const int row = row0 + Shape::row_step(g), column = column0 + Shape::column_step(j);
      if (row >= end || column >= tiles.n) continue;
      blocks::Pack<T> squared;
      for (int e = 0; e < pack; ++e) squared.values[e] = sum[g + e][j];
      store_distances(tiles, tiles.out + std::int64_t{column} * tiles.n + row, squared, end - row, store);
    }
}

}  // namespace league::distance_matrix
