// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/softmax_regression/mma/kernel.hpp"

/// The second half of a round of the method `mma`: from logits to residuals, and the gradient of a team.
namespace league::softmax_regression {

/// A subgroup's sums for the gradient: `slots` squares of features, and a turn of classes.
template <class Unit>
struct MmaGradient {
  using Tile = MmaTile<Unit>;
  using Squares = typename Tile::Squares;
  using Digits = typename Tile::Digits;
  using Word = typename Unit::Word;
  using Sum = typename Unit::Sum;
  typename Unit::fragment_c of[Tile::slots][Tile::tiles][Tile::units];

  /// Index of the square of features of a slot.
  LEAGUE_FUNCTION static int column_of(int span, int slot, int subgroup) {
    return span * Tile::together + slot * Tile::subgroups + subgroup;
  }

  /// Adds `count` rows of squares from `first` on, times their residuals. Last slot first: what the logits pass read
  /// last may still be in L1.
  LEAGUE_FUNCTION void add(const MmaWork<Unit>& work, int first, int count, int turn, int span, int subgroup, int lane,
                           const Word* residuals) {
    const Word* of_turn = residuals + turn * Tile::max_round(work.descent.classes) * square_words;
    blocks::unrolled<Tile::slots>([&](int back) {
      const int slot = Tile::slots - 1 - back, column = column_of(span, slot, subgroup);
      if (column >= work.across) return;
      const Word* next = work.square(first, column);
      const int stride = work.across * Squares::words;
      typename Squares::Part parts[Tile::ahead];
      blocks::unrolled<Tile::ahead>([&](int i) {
        if (i < count) Squares::template load<true>(parts[i], next, lane);
        next += stride;
      });
      const Word* with = of_turn;
      LEAGUE_NO_UNROLL
      for (int left = count; left > 0; left -= Tile::ahead)
        blocks::unrolled<Tile::ahead>([&](int i) {
          if (i >= left) return;
          multiply_square<Tile, true>(parts[i], with, lane, of[slot]);
          if (i + Tile::ahead < left) Squares::template load<true>(parts[i], next, lane);
          next += stride;
          with += square_words;
        });
    });
  }

  /// Stores the sums in the team's partial gradient, or adds them to it. @pre all threads call it; the span with the
  /// constant features is the first of a turn
  template <class Group>
  LEAGUE_FUNCTION void store(const Group& group, const MmaWork<Unit>& work, const MmaScratch<Tile>& scratch, int team,
                             int turn, int span, int subgroup, int lane, bool stored) const {
    if (work.resident)
      store_as<float>(group, work, scratch, team, turn, span, subgroup, lane, stored);
    else
      store_as<double>(group, work, scratch, team, turn, span, subgroup, lane, stored);
  }

 private:
  static constexpr int square_words = Tile::square_words;

  template <class Partial, class Group>
  LEAGUE_FUNCTION void store_as(const Group& group, const MmaWork<Unit>& work, const MmaScratch<Tile>& scratch,
                                int team, int turn, int span, int subgroup, int lane, bool stored) const {
    if constexpr (Tile::by_rows)
      store_rows<Partial>(group, work, scratch.totals, team, turn, span, subgroup, lane, stored);
    else
      blocks::unrolled<Tile::slots * Tile::tiles * Unit::sums>([&](int n) {
        const int i = n % Unit::sums, tile = n / Unit::sums % Tile::tiles, slot = n / Unit::sums / Tile::tiles;
        Sum values[Unit::sums];
        Unit::values(of[slot][tile][0], values);
        const int c = Unit::column(lane, i), row = Squares::row_of(tile, Unit::row(lane, i));
        const int feature = column_of(span, slot, subgroup) * Tile::side + row;
        if (c >= classes_together || turn * classes_together + c >= work.descent.classes) return;
        if (feature >= work.descent.pitch) return;
        Partial& to = static_cast<Partial*>(work.partials)[place(work, team, turn, feature) + c * work.descent.pitch];
        to = (stored ? to : Partial{0}) + static_cast<Partial>(values[i]);
      });
  }
  /// By rows: a lane has all digits of its features.
  template <class Partial, class Group>
  LEAGUE_FUNCTION void store_rows(const Group& group, const MmaWork<Unit>& work, int* totals, int team, int turn,
                                  int span, int subgroup, int lane, bool stored) const {
    using Sums = typename Squares::template RowSums<Tile::units>;
    const auto each_row = [&](int slot, const auto& body) {
      Sum values[Tile::tiles][Tile::units][Unit::sums];
      blocks::each<Unit, Tile::tiles * Tile::units>([&](int n) {
        Unit::values(of[slot][n / Tile::units][n % Tile::units], values[n / Tile::units][n % Tile::units]);
      });
      const Sums sums(values, lane);
      for (int row = 0; row < Sums::rows; ++row)
        body(sums, row, column_of(span, slot, subgroup) * Tile::side + lane + row * Unit::lanes);
    };
    if constexpr (Digits::bytes) {  // the sums of the constant feature, 1: those of the residuals
      blocks::unrolled<Tile::slots>([&](int slot) {
        if (column_of(span, slot, subgroup) != work.descent.features / Tile::side) return;
        each_row(slot, [&](const Sums& sums, int row, int feature) {
          if (feature == work.descent.features)
            blocks::each<Unit, Digits::columns>([&](int column) { totals[column] = sums.at(row, column); });
        });
      });
      group.barrier();
    }
    const int classes = work.descent.classes - turn * classes_together;
    blocks::unrolled<Tile::slots>([&](int slot) {
      each_row(slot, [&](const Sums& sums, int row, int feature) {
        if (feature >= work.descent.pitch) return;
        // Adds 128 to every pixel again; the constant feature is 255.
        [[maybe_unused]] const int more = feature < work.descent.features ? Digits::moved : 254;
        Partial* to = static_cast<Partial*>(work.partials) + place(work, team, turn, feature);
        blocks::each<Unit, classes_together>([&](int c) {
          if (c >= classes) return;
          const Partial value = value_of<Partial>(
              [&](int column) {
                if constexpr (Digits::bytes) return sums.at(row, column) + totals[column] * more;
                return sums.at(row, column);
              },
              c);
          *to = stored ? *to + value : value;
          to += work.descent.pitch;
        });
      });
    });
    group.barrier();
  }
  /// The value of a class's sums. Of bytes: with `max_rows` rows the two upper digits fit in 32 bits, and the lowest is
  /// exact as a float. `sum(column)`
  template <class Partial, class SumOf>
  LEAGUE_FUNCTION static Partial value_of(const SumOf& sum, int c) {
    if constexpr (Digits::bytes) {
      static_assert(Digits::digits == 3);
      const int upper = sum(c) * 256 + sum(classes_together + c), lower = sum(2 * classes_together + c);
      return static_cast<Partial>(upper) * static_cast<Partial>(256 / Digits::one) +
             static_cast<Partial>(lower) * static_cast<Partial>(1 / Digits::one);
    } else {
      return static_cast<Partial>(sum(c));
    }
  }
  LEAGUE_FUNCTION static std::int64_t place(const MmaWork<Unit>& work, int team, int turn, int feature) {
    return (std::int64_t{team} * work.descent.classes + turn * classes_together) * work.descent.pitch + feature;
  }
};

/// Turns the logits of `count` rows of squares from `first` on, whose features are in `slices`, into residuals, as
/// operand B of the gradient.
/// @returns the losses of this thread's rows
template <class Unit, class Group>
LEAGUE_FUNCTION double finish_rows(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int first,
                                   int count, int slices, const MmaScratch<MmaTile<Unit>>& scratch) {
  using Tile = MmaTile<Unit>;
  using Digits = typename Tile::Digits;
  const int classes = work.descent.classes, all_turns = turns(classes), round = Tile::max_round(classes);
  constexpr int square_words = Tile::square_words;
  const Rows rows = work.descent.own_rows(step);
  double loss = 0;
  for (int row = group.rank; row < count * Tile::side; row += group.size) {
    const std::int64_t number = std::int64_t{first % work.down} * Tile::side + row;  // in the batch
    const int label = number < rows.last - rows.first ? work.labels[rows.first + number] : -1;
    float* z = scratch.logits + row * all_turns * turn_pitch;
    for (int slice = 1; slice < slices; ++slice)
      for (int i = 0; i < all_turns * turn_pitch / 4; ++i) {
        Quad& sum = reinterpret_cast<Quad*>(z)[i];
        sum = sum + reinterpret_cast<const Quad*>(z + slice * count * Tile::side * all_turns * turn_pitch)[i];
      }
    loss += all_turns == 1 ? finish_turn(classes, label, z) : finish_row(classes, label, z);
    for (int turn = 0; turn < all_turns; ++turn) {
      auto* to = scratch.residuals + (turn * round + row / Tile::side) * square_words;
      Quad of_turn[turn_pitch / 4];
      for (int i = 0; i < turn_pitch / 4; ++i) of_turn[i] = reinterpret_cast<const Quad*>(z + turn * turn_pitch)[i];
      blocks::each<Unit, classes_together>([&](int c) {
        const float residual = of_turn[c / 4].values[c % 4];
        if constexpr (Digits::bytes) {
          std::int8_t digits[Digits::digits];
          Digits::split(Digits::fixed(residual), digits);
          for (int digit = 0; digit < Digits::digits; ++digit)
            Digits::put(to, digit * classes_together + c, row % Tile::side, digits[digit]);
        } else {
          Digits::put(to, c, row % Tile::side, residual);
        }
      });
      blocks::each<Unit, Tile::columns - Digits::columns>(
          [&](int i) { Digits::put(to, Digits::columns + i, row % Tile::side, {}); });
    }
  }
  return loss;
}

/// A team's share of a step: its partial gradient. @returns the losses of this thread's rows
template <class Unit, class Group>
LEAGUE_FUNCTION double take_share(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int team, int teams,
                                  void* memory) {
  using Tile = MmaTile<Unit>;
  const int classes = work.descent.classes, all_turns = turns(classes), round = work.round;
  const MmaScratch<Tile> scratch(memory, classes);
  const auto squares = work.share(step, team, teams);
  bool stored = false;
  double loss = 0;
  int first = squares.first;
  do {
    const int count = round < squares.last - first ? round : squares.last - first;
    // Opaque copy of the thread index, so that values derived from it are not kept in registers across rounds.
    const int thread = group.rank + (first >> 31), lane = thread % Unit::lanes;
    const int subgroup = thread / Unit::lanes;
    const int slices = work.slices(count);
    for (int turn = 0; turn < all_turns; ++turn)
      for (int square = subgroup; square < count * slices; square += Tile::subgroups) {
        int row = first + square, begin = 0, end = work.across;
        if (slices > 1) {
          const int slice = square / count;
          row -= slice * count;
          begin = slice * work.across / slices;
          end = (slice + 1) * work.across / slices;
        }
        MmaLogits<Unit> logits;
        logits.add(work, row, turn, begin, end, lane);
        logits.put(work, square, turn, begin == 0, lane, scratch.logits);
      }
    group.barrier();
    loss += finish_rows(group, work, step, first, count, slices, scratch);
    group.barrier();
    for (int turn = 0; turn < all_turns; ++turn)
      for (int span = work.spans() - 1; span >= 0; --span) {
        MmaGradient<Unit> gradient;
        gradient.add(work, first, count, turn, span, subgroup, lane, scratch.residuals);
        gradient.store(group, work, scratch, team, turn, span, subgroup, lane, stored);
      }
    stored = true;
    first += round;
  } while (first < squares.last);
  return loss;
}

}  // namespace league::softmax_regression
