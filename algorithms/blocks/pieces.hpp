// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/unrolled.hpp"

/// Packing of rows as pieces for matrix units. A type `Rows` gives the words (`word(row, begin, sums)`: the elements
/// from `begin` on; 0 beyond the end), adds `sums` of type `Sum` per row on the way, and takes them in `finish(row,
/// sums, peak)`. Optional: `prepare(group, first, peak)` runs before the words, for 16 rows together.
namespace league::blocks {

/// Calls `put(i, value)` for the elements of one word of a row, from `begin` on, up to the number of features. Loads
/// are vectors of `size` where the number of features is a multiple of it.
template <int size, class T, class Put>
LEAGUE_FUNCTION void load_elements(const T* row, int begin, int features, const Put& put) {
  using Elements = blocks::Pack<T, size* static_cast<int>(sizeof(T))>;
  if (begin >= features) return;
  if (features % size == 0) {
    const Elements loaded = *reinterpret_cast<const Elements*>(row + begin);
    for (int i = 0; i < size; ++i) put(i, loaded.values[i]);
  } else {
    for (int i = 0; i < size && begin + i < features; ++i) put(i, row[begin + i]);
  }
}

/// Packs 16 rows from `first` on: the subgroups take the steps of the depth in turn, a lane its part of a piece.
/// `totals` [16][Rows::sums] is shared by the group; `add` and `peak` are atomic there and in memory. @pre all threads
/// of the group, whole subgroups, call it
template <class Unit, mma::Operand operand, class Rows, class Group, class Add, class Peak>
LEAGUE_FUNCTION void pack_rows(const Group& group, const Rows& rows, const mma::Pieces<Unit, operand>& pieces,
                               std::int64_t first, typename Rows::Sum* totals, typename Unit::Word* packed,
                               const Add& add, const Peak& peak) {
  using mma::side, mma::words, mma::piece_words;
  using Word = typename Unit::Word;
  constexpr int sums = Rows::sums;
  for (int i = group.rank; i < side * sums; i += group.size) totals[i] = 0;
  if constexpr (requires { rows.prepare(group, first, peak); }) rows.prepare(group, first, peak);
  group.barrier();
  const int lane = group.rank % Unit::lanes;
  typename Rows::Sum mine[Unit::lane_rows][sums] = {};  // a lane keeps its rows
  struct alignas(Unit::lanes == 1 ? sizeof(Word) : Unit::share * sizeof(Word)) Part {
    Word word[Unit::share];
  };
  constexpr int together = Unit::lanes == 1 ? 1 : 2;  // loads that overlap
  const int stride = group.size / Unit::lanes;
  for (int begin = group.rank / Unit::lanes; begin < pieces.steps; begin += together * stride) {
    Part parts[together];
    unrolled<together>([&](int n) {
      const int step = begin + n * stride;
      for (int i = 0; i < Unit::share && step < pieces.steps; ++i) {
        const auto place = Unit::template word_of<operand>(lane, i);
        parts[n].word[i] = rows.word(first + place.row, (step * words + place.word) * Unit::per_word,
                                     mine[Unit::template lane_row<operand>(i)]);
      }
    });
    unrolled<together>([&](int n) {
      const int step = begin + n * stride;
      if (step < pieces.steps)
        *reinterpret_cast<Part*>(packed + pieces.step(first, step) + first % pieces.height / side * piece_words +
                                 lane * Unit::share) = parts[n];
    });
  }
  for (int i = 0; i < Unit::lane_rows; ++i)
    for (int s = 0; s < sums; ++s) add(totals + Unit::word_of(lane, i).row * sums + s, mine[i][s]);
  group.barrier();
  for (int row = group.rank; row < side; row += group.size) rows.finish(first + row, totals + row * sums, peak);
  group.barrier();
}

}  // namespace league::blocks
