// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/sum/common/chunks.hpp"

/// One lane's share of a chunk in the native kernels, which the specialised ones share.
namespace league::sum {

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

/// Adds packs loaded together; floats in float, two additions deep and two more within the pack.
template <class T>
LEAGUE_FUNCTION Total<T> run_total(const blocks::Pack<T> (&x)[at_once]) {
  static_assert(at_once == 4 && float_additions == 4);
  if constexpr (std::is_integral_v<T>)
    return (pack_total(x[0]) + pack_total(x[1])) + (pack_total(x[2]) + pack_total(x[3]));
  else
    return pack_total((x[0] + x[1]) + (x[2] + x[3]));
}

/// A GPU lane's share of `size` elements: every lanes-th pack of 16 bytes. @pre `from` is aligned to packs
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

/// A host thread's share of `size` elements, with `lanes` threads per chunk: every lanes-th run of four cache lines,
/// with one sum per element of a line (vectorised). Floats are added in float within a run.
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
