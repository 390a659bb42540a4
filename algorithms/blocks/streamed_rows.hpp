// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/pack.hpp"

/// A GPU lane's way over rows that lie in columns, for sums that take many registers: few lanes share a multiprocessor
/// then, so that each has its next rows under way while it uses those before.
namespace league::blocks {

/// One pack of each of `columns` columns.
template <class T, int columns, int bytes>
struct RowPacks {
  using Pack = blocks::Pack<T, bytes>;
  Pack packs[columns];

  /// Pack `number`.
  template <class Load>
  LEAGUE_FUNCTION void load(const Load& load_pack, std::int64_t number) {
    for (int c = 0; c < columns; ++c) packs[c] = load_pack.template operator()<Pack>(c, number);
  }
  template <class Add>
  LEAGUE_FUNCTION void add(const Add& add_row) const {
    for (int i = 0; i < Pack::size; ++i) {
      T row[columns];
      for (int c = 0; c < columns; ++c) row[c] = packs[c].values[i];
      add_row(row);
    }
  }
};

/// Calls `add_row(values)` with the rows of lane `lane` of `lanes`: every lanes-th pack of `bytes`, and of the rows
/// beyond the last whole pack every lanes-th. `load.operator()<Pack>(c, number)`: pack `number` of column c.
template <class T, int columns, int bytes, class Load, class Add>
LEAGUE_FUNCTION void stream_rows(const Load& load, std::int64_t rows, std::int64_t lane, std::int64_t lanes,
                                 const Add& add_row) {
  using Packs = RowPacks<T, columns, bytes>;
  constexpr int size = Packs::Pack::size;
  const std::int64_t packs = rows / size;
  if (lane < packs) {
    // Beyond the last pack that one is loaded again, for nothing: a branch would let the compiler join both loads.
    const auto bounded = [last = packs - 1](std::int64_t p) { return p < last ? p : last; };
    Packs here, next;
    std::int64_t p = lane;
    here.load(load, p);
    next.load(load, bounded(p + lanes));
    for (; p + lanes < packs; p += 2 * lanes) {
      here.add(add_row);
      here.load(load, bounded(p + 2 * lanes));
      next.add(add_row);
      next.load(load, bounded(p + 3 * lanes));
    }
    if (p < packs) here.add(add_row);
  }
  for (std::int64_t i = packs * size + lane; i < rows; i += lanes) {
    T row[columns];
    for (int c = 0; c < columns; ++c) row[c] = load.template operator()<blocks::Pack<T, sizeof(T)>>(c, i).values[0];
    add_row(row);
  }
}

}  // namespace league::blocks
