// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// A worker's elements: `for (auto i = mine.first; i < mine.end; i += mine.stride)`.
template <class Index>
struct Stretch {
  Index first, end, stride;
};

/// The share of worker `rank` of `workers` (lanes of a team, teams of a league) in `count` elements: on a GPU every
/// workers-th element, since neighbouring lanes coalesce and neighbouring teams share caches; on a host a contiguous
/// stretch, since a thread prefetches its own.
template <class Index>
KOKKOS_INLINE_FUNCTION Stretch<Index> share(Index rank, Index workers, Index count) {
  if constexpr (kokkos::on_gpu)
    return {rank, count, workers};
  else
    return {static_cast<Index>(std::int64_t{count} * rank / workers),
            static_cast<Index>(std::int64_t{count} * (rank + 1) / workers), 1};
}

/// Calls `body(row, column)` for `rows` x `columns` cells, by the lanes of a team: on a GPU in rows of 2^`row_bits`
/// lanes, as one range, since a range in a range takes a division and registers; on a host row after row, since GCC
/// vectorises a loop over the columns alone. @pre columns <= 1 << row_bits
template <class Member, class Body>
KOKKOS_INLINE_FUNCTION void for_cells(const Member& team, int rows, int columns, int row_bits, const Body& body) {
  if constexpr (kokkos::on_gpu)
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, rows << row_bits), [&](int i) {
      const int row = i >> row_bits, column = i - (row << row_bits);
      if (column < columns) body(row, column);
    });
  else
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int row) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, columns), [&](int column) { body(row, column); });
    });
}

}  // namespace league::blocks
