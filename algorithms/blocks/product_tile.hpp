// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>

#include "algorithms/blocks/pack.hpp"

namespace league::blocks {

/// Layout of the rows for the product tile on a GPU: panels of `width` rows, feature by feature
/// ([panels][depth][width]), features padded to a multiple of `step`, rows to whole panels. An operand is then
/// contiguous in each step of the depth, whatever the number of features.
struct Panels {
  static constexpr int width = 128, step = 16;
  std::int64_t rows = 0;  ///< with the padding
  int depth = 0;          ///< with the padding

  Panels() = default;
  Panels(std::int64_t n, std::int64_t features)
      : rows((n + width - 1) / width * width), depth(static_cast<int>((features + step - 1) / step * step)) {}
  [[nodiscard]] std::int64_t size() const { return rows * depth; }
  /// Offset of feature 0 of a row; feature f is f * width further.
  LEAGUE_FUNCTION std::int64_t first(std::int64_t row) const { return row / width * width * depth + row % width; }
};

/// Conversions of an element: `Packed` is its type in memory, `Sum` in the tile.
template <class T>
struct PlainElement {
  using Packed = T;
  LEAGUE_FUNCTION static T pack(T value) { return value; }
  LEAGUE_FUNCTION static T widen(T value) { return value; }
  LEAGUE_FUNCTION static T padding() { return T{0}; }  ///< widens to 0
};

/// A tile of dot products shared by the threads of a block, the same in CUDA and Kokkos: c[row][column] = a[row] .
/// b[column].
///
/// A thread keeps 2 x 2 squares of `pack` x `pack` sums (8 x 8 in f32, 4 x 4 in f64). A group of `down` x `across`
/// threads takes neighbouring squares, so that its 16-byte accesses to scratch have no bank conflicts: 128 distinct
/// bytes of b at a time, 64 of a. Scratch holds `depth` steps of both operands, double-buffered.
template <class Sum_, int rows_, int columns_, int depth_>
struct TileShape {
  using Sum = Sum_;
  static constexpr int rows = rows_, columns = columns_, depth = depth_;
  static constexpr int pack = Pack<Sum>::size;
  static constexpr int thread_rows = 2 * pack, thread_columns = 2 * pack;
  static constexpr int threads = rows * columns / (thread_rows * thread_columns);
  static constexpr int buffer = depth * (rows + columns);  ///< values
  static constexpr int scratch_bytes = 2 * buffer * static_cast<int>(sizeof(Sum));

  static constexpr int down = 4, across = 8, group = down * across;
  static constexpr int groups_across = columns / (across * thread_columns);
  static_assert(rows % (down * thread_rows) == 0 && columns % (across * thread_columns) == 0);
  static_assert(Panels::width % rows == 0 && Panels::width % columns == 0 && Panels::step % depth == 0);

  /// The first row and column of a thread's sums; sum[i][j] is at `first_row + row_step(i)`, `first_column +
  /// column_step(j)`.
  LEAGUE_FUNCTION static constexpr int first_row(int thread) {
    return thread / group / groups_across * down * thread_rows + thread % group / across * pack;
  }
  LEAGUE_FUNCTION static constexpr int first_column(int thread) {
    return thread / group % groups_across * across * thread_columns + thread % across * pack;
  }
  LEAGUE_FUNCTION static constexpr int row_step(int i) { return i / pack * down * pack + i % pack; }
  LEAGUE_FUNCTION static constexpr int column_step(int j) { return j / pack * across * pack + j % pack; }

  /// An operand of `height` rows is fetched in packs of rows: pack `thread + pass * threads` is at [step_of][row_of].
  /// Each pass of a thread has the same row, `pass_steps` further along the depth.
  LEAGUE_FUNCTION static constexpr int row_of(int thread, int height) { return thread % (height / pack) * pack; }
  LEAGUE_FUNCTION static constexpr int step_of(int thread, int height) { return thread / (height / pack); }
  LEAGUE_FUNCTION static constexpr int pass_steps(int height) { return threads / (height / pack); }
  LEAGUE_FUNCTION static constexpr int passes(int height) { return depth / pass_steps(height); }
  static_assert(passes(rows) * pass_steps(rows) == depth && passes(columns) * pass_steps(columns) == depth);
};

/// The tile shape of a team size: one square of sums per thread, at most 40 KB of scratch.
template <class Sum, int team>
struct TileFor;
template <>
struct TileFor<float, 256> : TileShape<float, 128, 128, 16> {};
template <>
struct TileFor<float, 128> : TileShape<float, 128, 64, 8> {};
template <>
struct TileFor<float, 64> : TileShape<float, 64, 64, 8> {};
template <>
struct TileFor<double, 256> : TileShape<double, 64, 64, 16> {};
template <>
struct TileFor<double, 128> : TileShape<double, 64, 32, 16> {};
template <>
struct TileFor<double, 64> : TileShape<double, 32, 32, 16> {};

/// The squared norm of a padding row: NaN, so that every comparison is false.
template <class Sum>
inline constexpr Sum no_norm = std::numeric_limits<Sum>::quiet_NaN();

}  // namespace league::blocks
