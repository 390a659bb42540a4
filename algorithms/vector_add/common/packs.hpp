// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/pack.hpp"
#include "backends/portable.hpp"

namespace league {

/// One access of a GPU thread.
template <class T>
using Pack = blocks::Pack<T, 16>;

/// Pack `number` of the index fill of the rows from `begin`, `width` elements.
template <class T, int width>
LEAGUE_FUNCTION blocks::Pack<T, width* static_cast<int>(sizeof(T))> indices(std::int64_t begin, std::int64_t number) {
  blocks::Pack<T, width* static_cast<int>(sizeof(T))> pack;
  for (int k = 0; k < width; ++k) pack.values[k] = static_cast<T>(begin + number * width + k);
  return pack;
}

}  // namespace league
