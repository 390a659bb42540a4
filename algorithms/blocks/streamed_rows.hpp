// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/pack.hpp"

/// A GPU lane's way over rows that lie in columns, for sums that take many registers: few lanes share a multiprocessor
/// then, so that each has its next rows under way while it uses those before.
namespace league::blocks {

/// `at_once` packs of each of `columns` columns.
template <class T, int columns, int bytes, int at_once>
struct RowPacks {
  using Pack = blocks::Pack<T, bytes>;
  Pack packs[at_once][columns];

  /// Pack number `first` and every `stride`-th after it; beyond `last` that one again, for nothing: a branch would let
  /// the compiler join these loads with the next. A column that is not there is 0.
  template <class Column>
  LEAGUE_FUNCTION void load(const Column& column, std::int64_t first, std::int64_t stride, std::int64_t last) {
    for (int k = 0; k < at_once; ++k) {
      const std::int64_t number = first + k * stride;
      for (int c = 0; c < columns; ++c) {
        const T* from = column(c);
        packs[k][c] = from == nullptr ? Pack{} : reinterpret_cast<const Pack*>(from)[number < last ? number : last];
      }
    }
  }
  /// Hands over the rows of pack `k`.
  template <class Add>
  LEAGUE_FUNCTION void add(int k, const Add& add_row) const {
    for (int i = 0; i < Pack::size; ++i) {
      T row[columns];
      for (int c = 0; c < columns; ++c) row[c] = packs[k][c].values[i];
      add_row(row);
    }
  }
};

/// Calls `add_row(values)` with the rows of lane `lane` of `lanes`: every lanes-th pack, and of the rows beyond the
/// last whole pack every lanes-th. `column(c)`: where column c begins, aligned to a pack, or null.
template <class T, int columns, int bytes, int at_once, class Column, class Add>
LEAGUE_FUNCTION void stream_rows(const Column& column, std::int64_t rows, std::int64_t lane, std::int64_t lanes,
                                 const Add& add_row) {
  using Packs = RowPacks<T, columns, bytes, at_once>;
  constexpr int size = Packs::Pack::size;
  const std::int64_t packs = rows / size, last = packs - 1, run = at_once * lanes;
  if (lane < packs) {
    Packs here, next;
    std::int64_t p = lane;
    here.load(column, p, lanes, last);
    next.load(column, p + run, lanes, last);
    for (; p + 2 * run - lanes < packs; p += 2 * run) {
      for (int k = 0; k < at_once; ++k) here.add(k, add_row);
      here.load(column, p + 2 * run, lanes, last);
      for (int k = 0; k < at_once; ++k) next.add(k, add_row);
      next.load(column, p + 3 * run, lanes, last);
    }
    for (int k = 0; k < at_once; ++k)
      if (p + k * lanes < packs) here.add(k, add_row);
    for (int k = 0; k < at_once; ++k)
      if (p + run + k * lanes < packs) next.add(k, add_row);
  }
  for (std::int64_t i = packs * size + lane; i < rows; i += lanes) {
    T row[columns];
    for (int c = 0; c < columns; ++c) row[c] = column(c) == nullptr ? T{0} : column(c)[i];
    add_row(row);
  }
}

}  // namespace league::blocks
