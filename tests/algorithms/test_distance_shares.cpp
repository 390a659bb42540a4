// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "algorithms/distance_matrix/common/tiles.hpp"
#include "algorithms/distance_matrix/direct/strips.hpp"
#include "algorithms/oracle/generate.hpp"

// The decomposition of the GPU kernels, simulated on the host: every value must be written and right, for every size,
// block of rows and team size.
namespace league::distance_matrix {
namespace {

const auto store = [](auto* to, const auto& value) { *to = value; };

template <class T>
struct Shared {
  Shared(int n_, int dimension_, int first_, int rows_)
      : n(n_),
        dimension(dimension_),
        first(first_),
        rows(rows_),
        points(static_cast<std::size_t>(n * dimension)),
        norms(512) {
    fill_random(std::span<T>(points), 7, 0);
    for (int i = 0; i < n; ++i) norms[static_cast<std::size_t>(i)] = product(i, i);
    memory.assign(static_cast<std::size_t>(rows * n) / blocks::Pack<T>::size + 1, blocks::Pack<T>());
    std::memset(static_cast<void*>(memory.data()), 0xff, memory.size() * sizeof(memory[0]));
  }
  [[nodiscard]] T product(int i, int j) const {
    T sum = 0;
    for (int k = 0; k < dimension; ++k) sum += at(i, k) * at(j, k);
    return sum;
  }
  [[nodiscard]] T at(int i, int k) const { return i < n ? points[static_cast<std::size_t>(i * dimension + k)] : T{0}; }
  [[nodiscard]] T* out() { return memory.data()->values; }
  void expect_right(double tolerance) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < n; ++j) {
        T squared = 0;
        for (int k = 0; k < dimension; ++k) squared += (at(first + i, k) - at(j, k)) * (at(first + i, k) - at(j, k));
        ASSERT_NEAR(out()[i * n + j], std::sqrt(squared), tolerance)
            << "row " << first + i << " column " << j << " of " << n << ", rows from " << first << " on";
      }
  }
  int n, dimension, first, rows;
  std::vector<T> points, norms;
  std::vector<blocks::Pack<T>> memory;
};

struct SmallTile {
  static constexpr int rows = 16, columns = 16;
};
TEST(DistanceShares, TilesOnAndAboveTheDiagonalAreEachDoneOnce) {
  for (int n = 1; n < 160; n += 13) {
    Tiles<float> tiles{n, 0, n, false, {}, nullptr, nullptr, nullptr};
    tiles.share_upper<SmallTile>();
    const int across = (n + 15) / 16;
    std::vector<int> done(static_cast<std::size_t>(across * across), 0);
    for (unsigned item = 0; item < tiles.items; ++item) {
      const Corner corner = tiles.upper_corner(item, 16);
      ++done.at(static_cast<std::size_t>(corner.row / 16 * across + corner.column / 16));
    }
    for (int row = 0; row < across; ++row)
      for (int column = 0; column < across; ++column)
        EXPECT_EQ(done[static_cast<std::size_t>(row * across + column)], column >= row ? 1 : 0) << row << " " << column;
  }
}

template <class T, int dimension>
void strips(int n, int first, int rows, int lanes) {
  Shared<T> shared(n, dimension > 0 ? dimension : 7, first, rows);
  Strips<T> strips{n, shared.dimension, first, rows, true, shared.points.data(), shared.out()};
  strips.share(lanes);
  for (unsigned item = 0; item < strips.items; ++item)
    for (int lane = 0; lane < lanes; ++lane)
      if constexpr (dimension > 0)
        walk_strip<dimension>(strips, item, lane, store);
      else
        walk_strip_any(strips, item, lane, store);
  shared.expect_right(1e-6);
}

template <class T, int team, class Term, bool mirror>
void tiles(int n, int first, int rows) {
  using Shape = blocks::TileFor<T, team>;
  Shared<T> shared(n, 3, first, rows);
  Tiles<T> tiles{n, first, rows, true, blocks::Panels(n, 3), nullptr, shared.norms.data(), shared.out()};
  tiles.template share<Shape>();
  for (unsigned item = 0; item < tiles.items; ++item) {
    const int row = tiles.row(item, Shape::rows), column = tiles.column(item, Shape::columns);
    if (mirror && column < row) continue;
    for (int thread = 0; thread < team; ++thread) {
      T sum[Shape::thread_rows][Shape::thread_columns] = {};
      for (int i = 0; i < Shape::thread_rows; ++i)
        for (int j = 0; j < Shape::thread_columns; ++j)
          for (int k = 0; k < 3; ++k)
            sum[i][j] = Term::add(sum[i][j], shared.at(row + Shape::first_row(thread) + Shape::row_step(i), k),
                                  shared.at(column + Shape::first_column(thread) + Shape::column_step(j), k));
      store_tile<Shape, Term>(tiles, thread, row, column, sum, mirror && column >= row + Shape::rows, store);
    }
  }
  shared.expect_right(std::is_same_v<Term, blocks::ProductTerm> ? 2e-3 : 1e-6);
}

/// Calls `body(n, first, rows)` for sizes around packs and tiles, whole and in blocks of rows.
template <class Body>
void each_block(const Body& body) {
  for (const int n : {1, 2, 4, 5, 9, 17, 127, 128, 129, 260})
    for (const int first : {0, n / 3, n - 1}) body(n, first, first == 0 ? n : (n - first + 1) / 2);
}

TEST(DistanceShares, StripsCoverEveryBlock) {
  each_block([](int n, int first, int rows) {
    for (const int lanes : {1, 32, 96}) {
      strips<float, 1>(n, first, rows, lanes);
      strips<float, 3>(n, first, rows, lanes);
      strips<float, 0>(n, first, rows, lanes);
      strips<double, 2>(n, first, rows, lanes);
      strips<double, 4>(n, first, rows, lanes);
      strips<double, 0>(n, first, rows, lanes);
    }
  });
}

TEST(DistanceShares, TilesCoverEveryBlock) {
  using blocks::DifferenceTerm, blocks::ProductTerm;
  each_block([](int n, int first, int rows) {
    tiles<float, 256, DifferenceTerm, false>(n, first, rows);
    tiles<float, 128, ProductTerm, false>(n, first, rows);
    tiles<float, 64, DifferenceTerm, false>(n, first, rows);
    tiles<double, 256, ProductTerm, false>(n, first, rows);
    tiles<double, 128, DifferenceTerm, false>(n, first, rows);
    tiles<double, 64, ProductTerm, false>(n, first, rows);
  });
}

TEST(DistanceShares, HalfTheTilesAndTheirMirrorImagesCoverTheMatrix) {
  using blocks::DifferenceTerm;
  for (const int n : {1, 5, 64, 127, 128, 129, 260}) {
    tiles<float, 256, DifferenceTerm, true>(n, 0, n);
    tiles<float, 128, DifferenceTerm, true>(n, 0, n);
    tiles<float, 64, DifferenceTerm, true>(n, 0, n);
    tiles<double, 256, DifferenceTerm, true>(n, 0, n);
    tiles<double, 128, DifferenceTerm, true>(n, 0, n);
    tiles<double, 64, DifferenceTerm, true>(n, 0, n);
  }
}

}  // namespace
}  // namespace league::distance_matrix
