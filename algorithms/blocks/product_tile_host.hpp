// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>

#include "algorithms/blocks/term.hpp"

namespace league::blocks {

/// A tile of sums that one host thread keeps in vector registers: 32 of them with AVX-512, else 16.
template <class Sum>
struct HostTile {
#if defined(__AVX512F__)
  static constexpr int vector_bytes = 64, rows = 12;
#else
  static constexpr int vector_bytes = 32, rows = 6;
#endif
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(Sum)), vectors = 2;
  static constexpr int columns = vectors * lanes;
};

/// Transposes `width` rows of data [n x features], from `first` on, to [features][width]; missing rows become 0.
/// `widen` converts an element to Sum.
template <class T, class Sum, class Widen>
LEAGUE_FUNCTION void pack_panel(const T* data, std::int64_t n, std::int64_t features, std::int64_t first, int width,
                                Sum* panel, const Widen& widen) {
  const T* from = data + first * features;
  const int there = n - first < width ? static_cast<int>(n - first) : width;
  for (std::int64_t f = 0; f < features;
       ++f, panel += width) {  // reads stream along `width` rows, writes are contiguous
    for (int row = 0; row < there; ++row) panel[row] = widen(from[row * features + f]);
    for (int row = there; row < width; ++row) panel[row] = Sum{0};
  }
}

/// sums[row][column] = (or, if it `continues`, +=) the sum of Term over features [0, depth) of a [depth][rows] and b
/// [depth][columns], in order; strides of features: `step_a` and `step_b`. The loops over vectors have a fixed length
/// and independent sums, so that the sums stay in registers. Explicit vector types, because the compiler by itself
/// would use half the width.
template <class Term, bool continues = false, class Sum>
LEAGUE_FUNCTION void host_tile(std::int64_t depth, const Sum* a, const Sum* b,
                               Sum (&sums)[HostTile<Sum>::rows][HostTile<Sum>::columns],
                               std::int64_t step_a = HostTile<Sum>::rows,
                               std::int64_t step_b = HostTile<Sum>::columns) {
  using Tile = HostTile<Sum>;
  typedef Sum Vector __attribute__((vector_size(Tile::vector_bytes)));
  Vector sum[Tile::rows][Tile::vectors] = {};
  if constexpr (continues)
    for (int row = 0; row < Tile::rows; ++row)
      for (int v = 0; v < Tile::vectors; ++v)
        __builtin_memcpy(&sum[row][v], &sums[row][v * Tile::lanes], sizeof(Vector));
  for (std::int64_t f = 0; f < depth; ++f, a += step_a, b += step_b) {
    Vector y[Tile::vectors];
    for (int v = 0; v < Tile::vectors; ++v) __builtin_memcpy(&y[v], b + v * Tile::lanes, sizeof(Vector));
    for (int row = 0; row < Tile::rows; ++row) {
      const Vector x = a[row] - Vector{};
      for (int v = 0; v < Tile::vectors; ++v) sum[row][v] = Term::add(sum[row][v], x, y[v]);
    }
  }
  for (int row = 0; row < Tile::rows; ++row)
    for (int v = 0; v < Tile::vectors; ++v) __builtin_memcpy(&sums[row][v * Tile::lanes], &sum[row][v], sizeof(Vector));
}

}  // namespace league::blocks
