// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>

#include "algorithms/blocks/pack.hpp"

namespace league::blocks {

/// Whether all rows of a row-major array with rows of `length` elements are 16-byte aligned, as the first one is.
template <class T>
LEAGUE_FUNCTION constexpr bool has_aligned_rows(std::integral auto length) {
  return length % Pack<T>::size == 0;
}

}  // namespace league::blocks
