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

}  // namespace league::blocks
