// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/softmax_regression/mma.hpp"

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
      for (int left = count; left > 0; left -= Tile::ahead)
        blocks::unrolled<Tile::ahead>([&](int i) {
          if (i >= left) return;
          multiply(parts[i], with, lane, slot);
          if (i + Tile::ahead < left) Squares::template load<true>(parts[i], next, lane);
          next += stride;
          with += square_words;
        });
    });
  }

  /// Stores the sums in the team's partial gradient, or adds them to it, in portions that fit into scratch. @pre all
  /// threads call it, and no longer use the logits; the span with the constant features is the first of a turn
  template <class Group>
  LEAGUE_FUNCTION void store(const Group& group, const MmaWork<Unit>& work, const MmaScratch<Tile>& scratch, int team,
                             int turn, int span, bool stored) const {
    const int thread = group.rank + (span >> 30), lane = thread % Unit::lanes;
    const int subgroup = thread / Unit::lanes;
    auto* exchange = reinterpret_cast<Sum*>(scratch.logits);
    if constexpr (Digits::bytes) put_totals(work, span, subgroup, lane, scratch.totals);
    blocks::unrolled<Tile::slots * Tile::tiles>([&](int n) {
      const int slot = n / Tile::tiles, tile = n % Tile::tiles;
      for (int first = 0; first < Tile::subgroups; first += scratch.exchanged) {
        if (subgroup >= first && subgroup < first + scratch.exchanged)
          put(slot, tile, lane, exchange + (subgroup - first) * Tile::exchange_words);
        group.barrier();
        for (int item = thread; item < scratch.exchanged * row_items; item += group.size) {
          const int row = item % side, c = item / side % classes_together, other = item / row_items;
          const int column = column_of(span, slot, first + other), feature = feature_of(column, tile, row);
          if (first + other >= Tile::subgroups || feature >= work.descent.pitch ||
              turn * classes_together + c >= work.descent.classes)
            continue;
          const Sum* sums = exchange + other * Tile::exchange_words + row * Tile::exchange_pitch + c;
          store_value(work, team, turn * classes_together + c, feature,
                      value_of(work, sums, scratch.totals + c, feature), stored);
        }
        group.barrier();
      }
    });
  }

 private:
  static constexpr int side = blocks::mma::side, row_items = side * classes_together;
  static constexpr int square_words = Tile::steps * Tile::units * blocks::mma::piece_words;

  LEAGUE_FUNCTION static int feature_of(int column, int tile, int row) {
    return column * Tile::side + Squares::row_of(tile, row);
  }
  LEAGUE_FUNCTION void multiply(const typename Squares::Part& part, const Word* residuals, int lane, int slot) {
    blocks::unrolled<Tile::steps>([&](int step) {
      typename Unit::fragment_b y[Tile::units];
      for (int unit = 0; unit < Tile::units; ++unit)
        Unit::load(y[unit], residuals + (step * Tile::units + unit) * blocks::mma::piece_words, lane);
      blocks::unrolled<Tile::tiles>([&](int tile) {
        typename Squares::Operand operand;
        Squares::template take<true>(operand, part, tile, step);
        for (int unit = 0; unit < Tile::units; ++unit) Unit::mma_sync(of[slot][tile][unit], operand.fragment, y[unit]);
      });
    });
  }
  LEAGUE_FUNCTION void put(int slot, int tile, int lane, Sum* exchange) const {
    blocks::unrolled<Tile::units>([&](int unit) {
      Sum values[Unit::sums];
      Unit::values(of[slot][tile][unit], values);
      blocks::each<Unit, Unit::sums>([&](int i) {
        exchange[Unit::row(lane, i) * Tile::exchange_pitch + unit * side + Unit::column(lane, i)] = values[i];
      });
    });
  }
  /// Stores the sums of the constant feature (1): the sums of the residuals.
  LEAGUE_FUNCTION void put_totals(const MmaWork<Unit>& work, int span, int subgroup, int lane, int* totals) const {
    blocks::unrolled<Tile::slots * Tile::tiles * Tile::units>([&](int n) {
      const int unit = n % Tile::units, tile = n / Tile::units % Tile::tiles, slot = n / Tile::units / Tile::tiles;
      const int column = column_of(span, slot, subgroup);
      if (column != work.descent.features / Tile::side) return;
      Sum values[Unit::sums];
      Unit::values(of[slot][tile][unit], values);
      blocks::each<Unit, Unit::sums>([&](int i) {
        if (feature_of(column, tile, Unit::row(lane, i)) == work.descent.features)
          totals[unit * side + Unit::column(lane, i)] = values[i];
      });
    });
  }
  /// The value of a sum of digits, exact up to the final rounding; adds back the offset of the pixels.
  LEAGUE_FUNCTION static double value_of(const MmaWork<Unit>& work, const Sum* sums, const int* totals, int feature) {
    if constexpr (Digits::bytes) {
      std::int64_t sum = 0;
      for (int digit = 0; digit < Digits::digits; ++digit) {
        const int column = digit * classes_together;
        const std::int64_t total = totals[column];
        sum += (feature < work.descent.features ? sums[column] + Digits::moved * total : 255 * total) *
               Digits::weight_of(digit);
      }
      return static_cast<double>(sum) * static_cast<double>(1 / Digits::one);
    } else {
      return static_cast<double>(sums[0]);
    }
  }
  LEAGUE_FUNCTION static void store_value(const MmaWork<Unit>& work, int team, int c, int feature, double value,
                                          bool stored) {
    const std::int64_t at = (std::int64_t{team} * work.descent.classes + c) * work.descent.pitch + feature;
    if (work.resident) {
      float& to = static_cast<float*>(work.partials)[at];
      to = stored ? to + static_cast<float>(value) : static_cast<float>(value);
    } else {
      double& to = static_cast<double*>(work.partials)[at];
      to = stored ? to + value : value;
    }
  }
};

/// Turns the logits of `count` rows of squares from `first` on into residuals, as operand B of the gradient.
/// @returns the losses of this thread's rows
template <class Unit, class Group>
LEAGUE_FUNCTION double finish_rows(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int first,
                                   int count, const MmaScratch<MmaTile<Unit>>& scratch) {
  using Tile = MmaTile<Unit>;
  using Digits = typename Tile::Digits;
  const int classes = work.descent.classes, all_turns = turns(classes), round = Tile::max_round(classes);
  constexpr int square_words = Tile::steps * Tile::units * blocks::mma::piece_words;
  const Rows rows = work.descent.own_rows(step);
  double loss = 0;
  for (int row = group.rank; row < count * Tile::side; row += group.size) {
    const std::int64_t number = std::int64_t{first % work.down} * Tile::side + row;  // in the batch
    const int label = number < rows.last - rows.first ? work.labels[rows.first + number] : -1;
    float* z = scratch.logits + row * all_turns * turn_pitch;
    loss += all_turns == 1 ? finish_turn(classes, label, z) : finish_row(classes, label, z);
    for (int turn = 0; turn < all_turns; ++turn) {
      auto* to = scratch.residuals + (turn * round + row / Tile::side) * square_words;
      for (int c = 0; c < classes_together; ++c) {
        const float residual = z[turn * turn_pitch + c];
        if constexpr (Digits::bytes) {
          const int number_of = Digits::fixed(residual);
          for (int digit = 0; digit < Digits::digits; ++digit)
            Digits::put(to, digit * classes_together + c, row % Tile::side,
                        static_cast<std::int8_t>(Digits::digit_of(number_of, digit)));
        } else {
          Digits::put(to, c, row % Tile::side, residual);
        }
      }
      for (int column = Digits::columns; column < Tile::columns; ++column)
        Digits::put(to, column, row % Tile::side, {});
    }
  }
  return loss;
}

/// A team's share of a step: its partial gradient. @returns the losses of this thread's rows
template <class Unit, class Group>
LEAGUE_FUNCTION double take_share(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int team, int teams,
                                  void* memory) {
  using Tile = MmaTile<Unit>;
  using Digits = typename Tile::Digits;
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
    for (int turn = 0; turn < all_turns; ++turn)
      for (int square = subgroup; square - subgroup < Tile::subgroups * Tile::squares_each; square += Tile::subgroups) {
        MmaLogits<Unit> logits;
        if (square < count) logits.add(work, first + square, turn, lane);
        for (int digit = 0; digit < Digits::digits; ++digit) {
          if (square < count) logits.put(work, square, turn, digit, lane, scratch.logits);
          group.barrier();
        }
      }
    loss += finish_rows(group, work, step, first, count, scratch);
    group.barrier();
    for (int turn = 0; turn < all_turns; ++turn)
      for (int span = work.spans() - 1; span >= 0; --span) {
        MmaGradient<Unit> gradient;
        gradient.add(work, first, count, turn, span, subgroup, lane, scratch.residuals);
        gradient.store(group, work, scratch, team, turn, span, stored);
      }
    stored = true;
    first += round;
  } while (first < squares.last);
  return loss;
}

}  // namespace league::softmax_regression
