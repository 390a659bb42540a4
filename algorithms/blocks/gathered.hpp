// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::blocks {

/// A fragment of words that lie anywhere, instead of in a piece. On a host it points to its own words: it must not
/// move.
template <class Unit, mma::Operand operand>
struct Gathered {
  using Word = typename Unit::Word;
  alignas(16) Word word[Unit::share];
  std::conditional_t<operand == mma::Operand::a, typename Unit::fragment_a, typename Unit::fragment_b> fragment;

  /// `word_at(i)`: word i of the lane, at place `Unit::word_of<operand>(lane, i)` of the piece.
  template <class WordAt>
  LEAGUE_FUNCTION void gather(const WordAt& word_at) {
    each<Unit, Unit::share>([&](int i) { word[i] = word_at(i); });
    Unit::load(fragment, word, 0);
  }
};

/// Pairs of rows of a tile whose sums one lane has: rows `distance` apart, 8 for mma.sync, 1 for MFMA; the sum of the
/// lower row is the lane's element `step` after that of the upper one. Eight pairs.
template <class Unit>
struct RowPairs {
  static constexpr int step = [] {
    int found = 0;
    for (const int apart : {1, mma::side / 2})
      for (int i = 1; i < Unit::sums; ++i)
        if (Unit::column(0, i) == Unit::column(0, 0) && Unit::row(0, i) == apart) found = i;
    return found;
  }();
  static constexpr int distance = Unit::row(0, step);

  LEAGUE_FUNCTION static constexpr int pair(int row) { return row / (2 * distance) * distance + row % distance; }
  LEAGUE_FUNCTION static constexpr bool lower(int row) { return row / distance % 2 != 0; }
};

}  // namespace league::blocks
