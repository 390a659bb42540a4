// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>

#include "algorithms/blocks/unrolled.hpp"
#include "backends/portable.hpp"

namespace league::blocks {

/// Adds one value of each of `lanes` lanes (a warp of 32, a wavefront of 64) in a tree; lane 0 has the sum.
/// `from_above(value, offset)` is the value of the lane `offset` above.
template <int lanes, class Value, class FromAbove>
LEAGUE_FUNCTION Value sum_lanes(Value value, const FromAbove& from_above) {
  static_assert((lanes & (lanes - 1)) == 0);
  for (int offset = lanes / 2; offset > 0; offset /= 2) value += from_above(value, offset);
  return value;
}

/// This lane's sum over a subgroup of one of `count` values, a power of two; `offset`: half of the lanes that still
/// have the same values, 0 for one lane. In each stage of the butterfly a lane sends half of its values and keeps the
/// others.
template <int offset, class Lanes, class T, int count>
LEAGUE_FUNCTION T split_sum(const Lanes& lanes, const T (&values)[count]) {
  if constexpr (count == 1) {
    return lanes.sum(values[0], offset > 0 ? 2 * offset : 1);
  } else {
    const bool upper = (lanes.rank & offset) != 0;
    T kept[count / 2];
    unrolled<count / 2>([&](int i) {
      const T low = values[i], high = values[count / 2 + i];
      kept[i] = (upper ? high : low) + lanes.across(upper ? low : high, offset);
    });
    return split_sum<offset / 2>(lanes, kept);
  }
}

/// Values of a transposed butterfly over `size` lanes for `n` sums: a power of two.
template <int n, int size>
inline constexpr int butterfly_values = n < size ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(n))) : size;

/// Adds each of `n` values over a subgroup in a transposed butterfly; one of its lanes calls `put(i, sum)`. As many
/// sums as lanes take one shuffle each, where a butterfly per sum takes five. `Lanes`: NativeLanes.
/// @pre all lanes of the subgroup call
template <int first = 0, class Lanes, class T, int n, class Put>
LEAGUE_FUNCTION void put_sums_over_lanes(const Lanes& lanes, const T (&mine)[n], const Put& put) {
  constexpr int left = n - first, size = Lanes::size, count = butterfly_values<left, size>;
  T values[count];
  unrolled<count>([&](int i) { values[i] = i < left ? mine[i < left ? first + i : 0] : T{0}; });
  const T sum = split_sum<size / 2>(lanes, values);
  const int i = lanes.rank / (size / count);  // lanes with the same sum are neighbours
  if (lanes.rank % (size / count) == 0 && i < left) put(first + i, sum);
  if constexpr (left > count) put_sums_over_lanes<first + count>(lanes, mine, put);
}

}  // namespace league::blocks
