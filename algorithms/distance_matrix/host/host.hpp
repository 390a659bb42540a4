// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/product_tile_host.hpp"
#include "backends/launch.hpp"

/// A host thread's work, the same in OpenMP and Kokkos: tiles of rows x columns with sums in registers.
namespace league::distance_matrix {

/// Layout of a method's points, feature by feature. `direct` reads whole columns of coordinates; the others contiguous
/// panels as wide as a tile, which stay in cache for the next rows.
template <class T>
struct HostLayout {
  using Tile = blocks::HostTile<T>;
  std::int64_t n, dimension;
  bool panels;

  [[nodiscard]] std::int64_t padded(std::int64_t count, int width) const {
    return ceil_div<std::int64_t>(count, width) * width;
  }
  /// Sizes in values of the operand of the columns, and of that of `rows` rows.
  [[nodiscard]] std::int64_t columns_size() const {
    return (padded(n, Tile::columns) + (panels ? 0 : Tile::columns)) * dimension;
  }
  [[nodiscard]] std::int64_t rows_size(std::int64_t rows) const {
    return panels ? padded(rows, Tile::rows) * dimension : 0;
  }
  [[nodiscard]] std::int64_t norms_size() const { return padded(n, Tile::columns); }
  /// Stride from one feature to the next, without panels.
  [[nodiscard]] std::int64_t step() const { return columns_size() / dimension; }
};

/// Transposes `width` points, from `first` on, to feature-major, `step` apart; zero-padded.
template <class T>
void lay_out(const HostLayout<T>& layout, const T* points, std::int64_t first, int width, T* to, std::int64_t step) {
  for (std::int64_t row = first; row < first + width; ++row, ++to)
    for (std::int64_t f = 0; f < layout.dimension; ++f)
      to[f * step] = row < layout.n ? points[row * layout.dimension + f] : T{0};
}

/// The squared norm of a point, added in double; 0 for padding.
template <class T>
T squared_norm(const HostLayout<T>& layout, const T* points, std::int64_t row) {
  double norm = 0;
  for (std::int64_t f = 0; row < layout.n && f < layout.dimension; ++f) {
    const auto value = static_cast<double>(points[row * layout.dimension + f]);
    norm += value * value;
  }
  return static_cast<T>(norm);
}

/// A block of rows for the tiles.
template <class T>
struct HostBlock {
  std::int64_t n, depth, first, rows;  ///< `first` is global
  bool euclidean, streaming;           ///< streaming: non-temporal stores, the result exceeds the caches
  const T *a, *b;                      ///< features of the rows (from `first` on), and of the columns
  std::int64_t a_tile, a_step;         ///< from one tile of rows to the next, from one feature to the next
  std::int64_t b_tile, b_step;
  const T* norms;  ///< of all points and of the padding of the columns, for the expanded form
  T* out;          ///< [rows x n]

  [[nodiscard]] std::int64_t row_tiles() const { return ceil_div<std::int64_t>(rows, blocks::HostTile<T>::rows); }
  [[nodiscard]] std::int64_t column_tiles() const { return ceil_div<std::int64_t>(n, blocks::HostTile<T>::columns); }
};

template <class T>
using HostSums = T[blocks::HostTile<T>::rows][blocks::HostTile<T>::columns];

/// Epilogue: a tile's sums to distances, with the norms if the sums are products, and the root.
template <class Term, class T>
void finish_tile(const HostBlock<T>& block, std::int64_t row, std::int64_t column, HostSums<T>& sums) {
  using Tile = blocks::HostTile<T>;
  const int rows = static_cast<int>(std::min<std::int64_t>(Tile::rows, block.rows - row));
  for (int i = 0; i < rows; ++i) {
    if constexpr (std::is_same_v<Term, blocks::ProductTerm>) {
      const std::int64_t global = block.first + row + i;
      typedef T Vector __attribute__((vector_size(Tile::vector_bytes)));
      const T norm = block.norms[global];
      for (int j = 0; j < Tile::columns; j += Tile::lanes) {
        Vector norms, products;
        std::memcpy(&norms, block.norms + column + j, sizeof(Vector));
        std::memcpy(&products, &sums[i][j], sizeof(Vector));
        const Vector squared = norm + norms - 2 * products, clamped = squared > 0 ? squared : Vector{};
        std::memcpy(&sums[i][j], &clamped, sizeof(Vector));
      }
      if (global >= column && global < column + Tile::columns) sums[i][global - column] = 0;
    }
    if (block.euclidean)
      for (T& sum : sums[i]) sum = std::sqrt(sum);
  }
}

/// Stores a tile, clipped to the matrix.
template <class Words, class T>
void store_tile(const HostBlock<T>& block, std::int64_t row, std::int64_t column, const HostSums<T>& sums) {
  using Tile = blocks::HostTile<T>;
  using Line = blocks::Pack<T, 64>;
  const std::int64_t rows = std::min<std::int64_t>(Tile::rows, block.rows - row);
  const std::int64_t columns = std::min<std::int64_t>(Tile::columns, block.n - column);
  const bool whole_lines = columns == Tile::columns && block.n % Line::size == 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    T* to = block.out + (row + i) * block.n + column;
    if (block.streaming && whole_lines)
      for (int j = 0; j < Tile::columns; j += Line::size)
        Words::store_streaming(reinterpret_cast<Line*>(to + j), reinterpret_cast<const Line&>(sums[i][j]));
    else
      std::memcpy(to, sums[i], static_cast<std::size_t>(columns) * sizeof(T));
  }
}

/// Stores the part of a tile above the diagonal, and its mirror image. @pre block.first == 0
template <class T>
void store_mirrored(const HostBlock<T>& block, std::int64_t row, std::int64_t column, const HostSums<T>& sums) {
  using Tile = blocks::HostTile<T>;
  const std::int64_t rows = std::min<std::int64_t>(Tile::rows, block.rows - row);
  const std::int64_t columns = std::min<std::int64_t>(Tile::columns, block.n - column);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = std::max<std::int64_t>(0, row + i - column); j < columns; ++j)
      block.out[(row + i) * block.n + column + j] = sums[i][j];
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < std::min(rows, column + j - row); ++i)
      block.out[(column + j) * block.n + row + i] = sums[i][j];
}

/// Some tiles of rows by all columns: a panel of columns stays in cache for all of them.
template <class Words, class Term, bool mirror, class T>
void host_rows(const HostBlock<T>& block, std::int64_t first_tile, std::int64_t last_tile) {
  using Tile = blocks::HostTile<T>;
  for (std::int64_t c = 0; c < block.column_tiles(); ++c)
    for (std::int64_t r = first_tile; r < last_tile; ++r) {
      const std::int64_t row = r * Tile::rows, column = c * Tile::columns;
      if (mirror && column + Tile::columns <= row) continue;
      alignas(64) HostSums<T> sums;
      blocks::host_tile<Term>(block.depth, block.a + r * block.a_tile, block.b + c * block.b_tile, sums, block.a_step,
                              block.b_step);
      finish_tile<Term>(block, row, column, sums);
      if constexpr (mirror)
        store_mirrored(block, row, column, sums);
      else
        store_tile<Words>(block, row, column, sums);
    }
  Words::finish_streaming();
}

}  // namespace league::distance_matrix
