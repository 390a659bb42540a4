// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/point_panels_kokkos.hpp"
#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/blocks/term.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/blocks/vectorised.hpp"

namespace league::blocks {

/// A tile of sums over pairs of points, sum[row][column] = sum over features of Term(a[row], b[column]), that a team
/// keeps in registers: `numbers` has its size (`tile` x `columns`), that of a thread (`rows` x two packs of `width`),
/// and the features of a step (`depth`). A GPU's threads share what a step reads through scratch; a host's thread keeps
/// its sums in vector registers, since a loop of constant length over columns is vectorised. `Of`: has `numbers`.
template <class T, class Of>
struct RegisterTile {
  static constexpr Numbers numbers = Of::numbers;
  static constexpr int rows = numbers.tile, columns = numbers.columns, width = numbers.width, step = numbers.depth;
  static constexpr int row_width = numbers.height;
  static constexpr int thread_rows = numbers.rows, thread_columns = 2 * width;
  static constexpr int down = rows / thread_rows, across = columns / thread_columns, threads = down * across;
  static_assert(thread_rows % row_width == 0);

  using RowPanels = PointPanels<T, rows, row_width>;
  using ColumnPanels = PointPanels<T, columns, width>;
  using Sums = T[thread_rows][thread_columns];

  /// The packs that a team shares: made once in a kernel, by all threads.
  struct Operands {
    Staged<typename RowPanels::Pack, RowPanels::packs * step, threads> a;
    Staged<typename ColumnPanels::Pack, ColumnPanels::packs * step, threads> b;

    template <class Member>
    KOKKOS_FORCEINLINE_FUNCTION Operands(const Member& team, const Packs<const T, row_width>& a_packs,
                                         const Packs<const T, width>& b_packs)
        : a(team, a_packs), b(team, b_packs) {}
    static std::size_t scratch_bytes() { return decltype(a)::scratch_bytes() + decltype(b)::scratch_bytes(); }
  };

  /// Row and column in the tile of sums[i][j] of a thread.
  KOKKOS_FORCEINLINE_FUNCTION static int row(int thread, int i) {
    return (thread / across + i / row_width * down) * row_width + i % row_width;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int column(int thread, int j) {
    return (thread % across + j / width * across) * width + j % width;
  }

  /// Adds all features of a panel of rows and one of columns, from packs `first_a` and `first_b` on; `lent`: scratch of
  /// the operands was lent before. @pre all threads of the team call
  template <class Term, bool lent = false, class Member>
  KOKKOS_FORCEINLINE_FUNCTION static void add(const Member& team, Operands& operands, std::int64_t first_a,
                                              std::int64_t first_b, int depth, Sums& sums) {
    auto& a = operands.a;
    auto& b = operands.b;
    const int thread = rank(team), steps = depth / step;
    a.begin(thread, first_a), b.begin(thread, first_b);
    if constexpr (lent) meet(team);
    a.put(thread, 0), b.put(thread, 0);
    meet(team);
    for (int s = 0; s < steps; ++s) {
      const int next = s + 1 < steps ? s + 1 : s;  // loading the last again is cheaper than a condition
      a.fetch(thread, next), b.fetch(thread, next);
      unrolled<step>([&](int f) {
        T x[thread_rows], y[thread_columns];
        for (int h = 0; h < 2; ++h) {
          const auto pack = b.at(s, f * ColumnPanels::packs + thread % across + h * across);
          for (int e = 0; e < width; ++e) y[h * width + e] = pack.values[e];
        }
        for (int h = 0; h < thread_rows / row_width; ++h) {
          const auto pack = a.at(s, f * RowPanels::packs + thread / across + h * down);
          for (int e = 0; e < row_width; ++e) x[h * row_width + e] = pack.values[e];
        }
        for (int i = 0; i < thread_rows; ++i) {
          LEAGUE_VECTORISED
          for (int j = 0; j < thread_columns; ++j) sums[i][j] = Term::add(sums[i][j], x[i], y[j]);
        }
      });
      a.put(thread, s + 1), b.put(thread, s + 1);
      meet(team);
    }
  }
};

}  // namespace league::blocks
