// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/unrolled.hpp"

/// Packing of rows as pieces for matrix units. A type `Rows` loads the elements of a word (`load<whole>(row, begin)`,
/// where `whole()` tells whether words are whole vectors in memory), makes the word of them (`word(row, begin,
/// elements, sums)`; 0 beyond the end), adds `sums` of type `Sum` per row on the way, and takes them in `finish(row,
/// sums, peak)`. Optional: `prepare(group, first, peak)` runs before the words, for 16 rows together.
namespace league::blocks {

/// `size` elements of a row from `begin` on, `padding` in place of those that do not exist: beyond the features, or of
/// a row that does not exist. `whole`: as one vector. @pre then the number of features is a multiple of `size`
template <int size, bool whole, class T>
LEAGUE_FUNCTION Pack<T, size* static_cast<int>(sizeof(T))> load_elements(const T* row, bool exists, int begin,
                                                                         int features, T padding) {
  Pack<T, size* static_cast<int>(sizeof(T))> loaded;
  for (int i = 0; i < size; ++i) loaded.values[i] = padding;
  if constexpr (whole) {
    if (exists && begin < features) loaded = *reinterpret_cast<const decltype(loaded)*>(row + begin);
  } else {
    for (int i = 0; i < size; ++i)
      if (exists && begin + i < features) loaded.values[i] = row[begin + i];
  }
  return loaded;
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
  constexpr int together = Unit::lanes == 1 ? 1 : 2, all_words = together * Unit::share;
  const int stride = group.size / Unit::lanes;
  // Words are loaded before the first of them is used, so that their loads overlap: all of a step, or, where words are
  // loaded element by element, what registers hold.
  const auto pack_steps = [&]<bool whole>() {
    constexpr int in_flight = Unit::lanes == 1 ? 1 : whole ? all_words : 2;
    for (int begin = group.rank / Unit::lanes; begin < pieces.steps; begin += together * stride) {
      Part parts[together];
      each<Unit, all_words / in_flight>([&](int round) {
        typename Rows::Elements elements[in_flight];
        const auto for_words = [&](const auto& body) {
          unrolled<in_flight>([&](int n) {
            const int part = (round * in_flight + n) / Unit::share, i = (round * in_flight + n) % Unit::share;
            const auto place = Unit::template word_of<operand>(lane, i);
            const int word = (begin + part * stride) * words + place.word;
            body(n, first + place.row, word * Unit::per_word, part, i);
          });
        };
        for_words([&](int n, std::int64_t row, int at, int, int) { elements[n] = rows.template load<whole>(row, at); });
        for_words([&](int n, std::int64_t row, int at, int part, int i) {
          parts[part].word[i] = rows.word(row, at, elements[n], mine[Unit::template lane_row<operand>(i)]);
        });
      });
      unrolled<together>([&](int n) {
        const int step = begin + n * stride;
        if (step < pieces.steps)
          *reinterpret_cast<Part*>(packed + pieces.step(first, step) + first % pieces.height / side * piece_words +
                                   lane * Unit::share) = parts[n];
      });
    }
  };
  if (rows.whole())
    pack_steps.template operator()<true>();
  else
    pack_steps.template operator()<false>();
  for (int i = 0; i < Unit::lane_rows; ++i)
    for (int s = 0; s < sums; ++s) add(totals + Unit::word_of(lane, i).row * sums + s, mine[i][s]);
  group.barrier();
  for (int row = group.rank; row < side; row += group.size) rows.finish(first + row, totals + row * sums, peak);
  group.barrier();
}

}  // namespace league::blocks
