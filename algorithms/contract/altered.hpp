// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>

#include "algorithms/contract/random.hpp"

namespace league {

/// Values of an input that take the place of others: `count` from `from` on, in that of those from `to` on.
struct Altered {
  std::size_t from, to, count;
};

/// The values of input number `input`, of `size` values, that a draw alters: a run at random places of 1, 2, 4 and so
/// on up to 64 values or, by the two lowest bits of the draw, of 1,024, 16,384 or 262,144; a quarter of the input at
/// most.
inline Altered altered(std::uint64_t draw, std::size_t input, std::size_t size) {
  const std::uint64_t level = draw & 3, shorter = level == 0 ? random_bits(draw, input, 2) % 7 : 0;
  const std::size_t most = (std::size_t{64} << (4 * level)) >> shorter;
  const std::size_t count = std::min(most, std::max<std::size_t>(size / 4, 1)), starts = size - count + 1;
  return {.from = random_bits(draw, input, 0) % starts, .to = random_bits(draw, input, 1) % starts, .count = count};
}

/// A draw that is not 0, of these bits, with the lowest two at `level`.
constexpr std::uint64_t draw_of(std::uint64_t bits, int level) {
  return ((bits | 4) & ~std::uint64_t{3}) | static_cast<std::uint64_t>(level);
}

}  // namespace league
