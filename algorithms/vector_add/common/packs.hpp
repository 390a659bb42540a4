// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/words.hpp"
#include "backends/portable.hpp"

namespace league {

/// One access of a GPU thread.
template <class T>
using Pack = blocks::Pack<T, 16>;

/// Packs that a work item of the index fill stores; on a host, packs per lane of `wide`'s tile too.
inline constexpr int packs_per_lane = 4;
template <class T>
inline constexpr int elements_per_lane = packs_per_lane * Pack<T>::size;

/// Pack `number` of the index fill of the rows from `begin`.
template <class T>
LEAGUE_FUNCTION Pack<T> indices(std::int64_t begin, std::int64_t number) {
  Pack<T> pack;
  for (int i = 0; i < Pack<T>::size; ++i) pack.values[i] = static_cast<T>(begin + number * Pack<T>::size + i);
  return pack;
}

/// A cache line of a host. Non-temporal stores save the read for ownership, a quarter of the traffic to memory; sums
/// that would have stayed in a cache take the way to memory by them.
template <class T>
using Line = blocks::Pack<T, 64>;

/// sum[i] = a[i] + b[i] for i in [begin, end), line by line. @pre `begin` is a multiple of a line, arrays are aligned
/// to lines; `Words::finish_streaming` is called before another thread reads the sums
template <class Words, class T>
LEAGUE_FUNCTION void add_lines(std::int64_t begin, std::int64_t end, const T* a, const T* b, T* sum) {
  constexpr int size = Line<T>::size;
  std::int64_t i = begin;
  for (; i + size <= end; i += size) {
    Line<T> line;
    for (int k = 0; k < size; ++k) line.values[k] = a[i + k] + b[i + k];
    Words::store_streaming(reinterpret_cast<Line<T>*>(sum + i), line);
  }
  for (; i < end; ++i) sum[i] = a[i] + b[i];
}

}  // namespace league
