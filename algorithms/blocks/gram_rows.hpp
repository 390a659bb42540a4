// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/gram_units.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/sums.hpp"
#include "backends/portable.hpp"

namespace league::blocks {

/// A subgroup's run of rows for `Units`, a GramUnits, of a matrix stored by columns: a lane has neighbouring rows of
/// each of its columns, as many as 16 bytes hold or a step takes.
template <class T, class Units>
struct GramRows {
  using Pack = blocks::Pack<T, 16>;
  using Unit = typename Units::Unit;
  static constexpr int deep = Units::deep, columns = Units::lane_columns, blocks = Units::blocks;
  static constexpr int of_lane = deep > Pack::size ? deep : Pack::size;  ///< rows per lane
  static constexpr int packs = of_lane / Pack::size, steps = of_lane / deep, rows = of_lane * Units::lanes_per_column;
  static_assert(of_lane % deep == 0 && of_lane % Pack::size == 0);
  using Wide = double[blocks][columns][deep];  ///< a step, as GramUnits::add takes it

  Pack x[blocks][columns][packs];

  /// First row of a lane in run `run`.
  LEAGUE_FUNCTION static std::int64_t first_row(int lane, std::int64_t run) {
    return run * rows + Units::place(lane) * of_lane;
  }
  /// Pointers to a lane's columns.
  struct Lane {
    const T* x[blocks][columns];
    /// `column_at(j)`: column j of `blocks` x 16, 16-byte aligned. Padding columns may be any: their sums are not used.
    template <class ColumnAt>
    LEAGUE_FUNCTION Lane(const ColumnAt& column_at, int lane) {
      each_column([&](int block, int k) { x[block][k] = column_at(block * mma::side + Units::column(lane, k)); });
    }
  };

  /// Loads the rows from `row` on.
  LEAGUE_FUNCTION void load(const Lane& lane, std::int64_t row) {
    each_column([&](int block, int k) {
      each<Unit, packs>(
          [&](int pack) { x[block][k][pack] = reinterpret_cast<const Pack*>(lane.x[block][k] + row)[pack]; });
    });
  }
  /// Loads `count` of the rows from `row` on; the others are 0.
  LEAGUE_FUNCTION void load_some(const Lane& lane, std::int64_t row, std::int64_t count) {
    each_column([&](int block, int k) {
      each<Unit, of_lane>([&](int i) { at(block, k, i) = i < count ? lane.x[block][k][row + i] : T{0}; });
    });
  }
  [[nodiscard]] LEAGUE_FUNCTION const T& at(int block, int k, int row) const {
    return x[block][k][row / Pack::size].values[row % Pack::size];
  }
  /// All steps as doubles, of the blocks from `from` on.
  template <int from = 0>
  LEAGUE_FUNCTION void widen(Wide (&wide)[steps]) const {
    each<Unit, of_lane>([&](int row) {
      each_column([&](int block, int k) {
        if (block >= from) wide[row / deep][block][k][row % deep] = static_cast<double>(at(block, k, row));
      });
    });
  }

 private:
  LEAGUE_FUNCTION T& at(int block, int k, int row) { return x[block][k][row / Pack::size].values[row % Pack::size]; }
  /// Calls `body(block, k)` for all columns of a lane.
  template <class Body>
  LEAGUE_FUNCTION static void each_column(const Body& body) {
    each<Unit, blocks>([&](int block) { each<Unit, columns>([&](int k) { body(block, k); }); });
  }
};

/// Runs that a subgroup takes: `begin`, `begin + stride`, ... below `end`.
struct Runs {
  std::int64_t begin, end, stride;
};
/// On a GPU neighbours take neighbouring runs, a thread of a host takes one part of them.
template <class Unit>
LEAGUE_FUNCTION Runs runs_of(std::int64_t runs, std::int64_t rank, std::int64_t subgroups) {
  if constexpr (Unit::lanes > 1) return {rank, runs, subgroups};
  const Range mine = piece(runs, rank, subgroups);
  return {mine.begin, mine.end, 1};
}

}  // namespace league::blocks
