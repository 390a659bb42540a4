// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/words.hpp"

namespace league {

/// A cache line of a host. Non-temporal stores save the read for ownership, a quarter of the traffic to memory; sums
/// that would have stayed in a cache take the way to memory by them.
template <class T>
using Line = blocks::Pack<T, 64>;

/// sum[i] = a[i] + b[i] for i in [begin, end), line by line. @pre `begin` is a multiple of a line, arrays are aligned
/// to lines; `Words::finish_streaming` is called before another thread reads the sums
template <class Words, class T>
void add_lines(std::int64_t begin, std::int64_t end, const T* a, const T* b, T* sum) {
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
