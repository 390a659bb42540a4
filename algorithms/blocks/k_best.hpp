// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/portable.hpp"

namespace league::blocks {

/// The order of all selections: by key, equal keys by the lower index.
template <class Key, class Index>
LEAGUE_FUNCTION bool before(Key key, Index index, Key other_key, Index other_index) {
  return key < other_key || (key == other_key && index < other_index);
}

/// A sorted list of the k best (key, index) so far, in the caller's memory: `keys[i]`, `indices[i]`. Entries are
/// `stride` apart, so that the lists of neighbouring threads interleave (coalesced).
template <class Keys, class Indices>
struct KBestIn {
  using Key = std::remove_reference_t<decltype(std::declval<const Keys&>()[0])>;
  using Index = std::remove_reference_t<decltype(std::declval<const Indices&>()[0])>;
  Keys keys;
  Indices indices;
  int k;
  std::int64_t stride;

  /// An empty entry: a key that no key exceeds, an index that no index exceeds.
  static constexpr Key none =
      std::numeric_limits<Key>::has_infinity ? std::numeric_limits<Key>::infinity() : std::numeric_limits<Key>::max();
  static constexpr Index last = std::numeric_limits<Index>::max();
  LEAGUE_FUNCTION void clear() const {
    for (int i = 0; i < k; ++i) keys[i * stride] = none, indices[i * stride] = last;
  }
  /// The k-th key: a larger one is rejected.
  LEAGUE_FUNCTION Key threshold() const { return keys[(k - 1) * stride]; }
  /// NaN is never inserted. @returns whether it was among the k best
  LEAGUE_FUNCTION bool insert(Key key, Index index) const {
    int i = k - 1;
    if (!before(key, index, keys[i * stride], indices[i * stride])) return false;
    for (; i > 0 && before(key, index, keys[(i - 1) * stride], indices[(i - 1) * stride]); --i) {
      keys[i * stride] = keys[(i - 1) * stride];
      indices[i * stride] = indices[(i - 1) * stride];
    }
    keys[i * stride] = key;
    indices[i * stride] = index;
    return true;
  }
};
template <class Key, class Index>
using KBest = KBestIn<Key*, Index*>;

}  // namespace league::blocks
