// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/pack.hpp"
#include "backends/portable.hpp"

/// What all models add in the same order: the share that one lane has of a chunk.
namespace league::sum {

/// What values of type T are added up in.
template <class T>
using Total = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// The chunks of a shard: `count` of them, of `chunk` elements each, the last perhaps of fewer; `size` in all.
struct Chunks {
  std::int64_t count = 0, size = 0;
  int chunk = 1;
  [[nodiscard]] LEAGUE_FUNCTION int size_of(std::int64_t index) const {
    const std::int64_t rest = size - index * chunk;
    return rest < chunk ? static_cast<int>(rest) : chunk;
  }
};

/// Additions in float on the way of one value into a sum: of a few neighbours, before the rest is added in double.
inline constexpr int float_additions = 4;

/// Packs that a lane has in flight: 4 x 16 bytes a thread are more than an H200's memory needs to be busy.
inline constexpr int at_once = 4;

/// Threads of the GPU team that adds `count` partial sums: as many as have them all in flight at once, whole warps, and
/// no more than a team takes. The order of additions depends on the count alone.
inline int finish_team(std::int64_t count) {
  constexpr std::int64_t least = 64, most = 1024, a_lane = at_once * blocks::Pack<double>::size;
  return static_cast<int>(
      std::clamp(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count))) / a_lane, least, most));
}

/// One pack, pairwise.
template <class T>
LEAGUE_FUNCTION Total<T> pack_total(const blocks::Pack<T>& pack) {
  using Value = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  constexpr int size = blocks::Pack<T>::size;
  static_assert(size == 2 || size == 4);
  const Value first = static_cast<Value>(pack.values[0]) + pack.values[1];
  if constexpr (size == 2)
    return first;
  else
    return first + (static_cast<Value>(pack.values[2]) + pack.values[3]);
}

/// Packs that were in flight together; floats are added in float here, two additions deep and two more in the pack.
template <class T>
LEAGUE_FUNCTION Total<T> run_total(const blocks::Pack<T> (&x)[at_once]) {
  static_assert(at_once == 4 && float_additions == 4);
  if constexpr (std::is_integral_v<T>)
    return (pack_total(x[0]) + pack_total(x[1])) + (pack_total(x[2]) + pack_total(x[3]));
  else
    return pack_total((x[0] + x[1]) + (x[2] + x[3]));
}

/// What a GPU's lane adds of `size` elements: every lanes-th pack of 16 bytes. @pre `from` is aligned to packs
template <class T>
LEAGUE_FUNCTION Total<T> lane_sum(const T* from, int size, int lane, int lanes) {
  using Pack = blocks::Pack<T>;
  const auto* packs = reinterpret_cast<const Pack*>(from);
  const int whole = size / Pack::size;
  Total<T> sum = 0;
  int p = lane;
  for (; p + (at_once - 1) * lanes < whole; p += at_once * lanes) {
    Pack x[at_once];
    for (int k = 0; k < at_once; ++k) x[k] = packs[p + k * lanes];
    sum += run_total(x);
  }
  for (; p < whole; p += lanes) sum += pack_total(packs[p]);
  for (int i = whole * Pack::size + lane; i < size; i += lanes) sum += from[i];
  return sum;
}

/// What a host's thread adds of `size` elements, where `lanes` of them share a chunk: every lanes-th run of four cache
/// lines, element by element, in as many sums as a line has elements. Floats are added in float within a run.
template <class T>
LEAGUE_FUNCTION Total<T> host_lane_sum(const T* from, int size, int lane = 0, int lanes = 1) {
  using Value = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
  constexpr int width = 64 / static_cast<int>(sizeof(T)), run = 4 * width;
  Total<T> sums[width] = {};
  for (int i = lane * run; i + run <= size; i += lanes * run)
    for (int k = 0; k < width; ++k)
      sums[k] += (static_cast<Value>(from[i + k]) + from[i + width + k]) +
                 (static_cast<Value>(from[i + 2 * width + k]) + from[i + 3 * width + k]);
  for (int i = size / run * run + lane; i < size; i += lanes) sums[i % width] += from[i];
  for (int half = width / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}

}  // namespace league::sum
