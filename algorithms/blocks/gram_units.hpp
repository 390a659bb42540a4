// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/unrolled.hpp"

/// Gram matrices on the f64 matrix unit: G = X^T diag(w) X. The rows of X are the depth of the product, so that both
/// operands are columns of X as stored. Also P = V^T X for a few vectors V, by FMAs on the same registers. Columns are
/// taken in blocks of 16; only the upper triangle of 16 x 16 blocks ("units") is computed.
namespace league::blocks {

/// Layout of a team's sums: the units of the upper triangle row by row, then P.
template <int blocks, int vectors>
struct GramLayout {
  static constexpr int units = blocks * (blocks + 1) / 2, columns = blocks * mma::side;
  static constexpr int unit_values = mma::side * mma::side;
  static constexpr int size = units * unit_values + vectors * columns;

  /// Index of the unit in block row `i`, block column `j` >= i.
  LEAGUE_FUNCTION static constexpr int unit(int i, int j) { return i * blocks - i * (i - 1) / 2 + j - i; }
  /// Block row of a unit.
  LEAGUE_FUNCTION static constexpr int row(int number) {
    int i = 0;
    while (i + 1 < blocks && unit(i + 1, i + 1) <= number) ++i;
    return i;
  }

  /// Index of G(i, j), j >= i, in the layout.
  LEAGUE_FUNCTION static constexpr int square(int i, int j) {
    return unit(i / mma::side, j / mma::side) * unit_values + i % mma::side * mma::side + j % mma::side;
  }
  /// Index of P(v, j) in the layout.
  LEAGUE_FUNCTION static constexpr int product(int v, int j) { return units * unit_values + v * columns + j; }
};

/// A subgroup's sums. `parts` subgroups split the units of the same rows between them. `weighted`: w is the first of
/// the vectors; else it is 1.
template <class Unit_, int blocks_, int vectors_, bool weighted = false, int parts = 1>
class GramUnits {
 public:
  using Unit = Unit_;
  using Layout = GramLayout<blocks_, vectors_>;
  static_assert(std::is_same_v<typename Unit::Value, double> && Unit::per_word == 1);
  static constexpr int blocks = blocks_, vectors = vectors_;
  /// Per block a lane has `lane_columns` columns and `deep` rows of a step; `lanes_per_column` lanes share a column.
  static constexpr int lane_columns = Unit::lane_rows, deep = Unit::share / lane_columns;
  static constexpr int lanes_per_column = mma::words / deep;
  /// First unit of a part, and first block whose P it adds.
  LEAGUE_FUNCTION static constexpr int unit_of(int part) { return Layout::units * part / parts; }
  LEAGUE_FUNCTION static constexpr int product_of(int part) { return blocks * part / parts; }
  /// First block of columns that a part needs.
  LEAGUE_FUNCTION static constexpr int first_block(int part) { return Layout::row(unit_of(part)); }
  /// Scratch of a team, in doubles.
  static constexpr int scratch_size = Layout::size + vectors * Layout::columns * (lanes_per_column - 1);

  /// Column `k` of a lane, in each block.
  LEAGUE_FUNCTION static constexpr int column(int lane, int k) { return Unit::word_of(lane, k).row; }
  /// Index of a lane among those with the same columns.
  LEAGUE_FUNCTION static constexpr int place(int lane) { return Unit::word_of(lane, 0).word; }

  /// Lanes with the same rows (other columns), `row_stride` apart; a lane's index among them; lane `i` of them.
  static constexpr int row_lanes = Unit::lanes / lanes_per_column;
  static constexpr int row_stride = Unit::word_of(1, 0).word == Unit::word_of(0, 0).word ? 1 : lanes_per_column;
  LEAGUE_FUNCTION static constexpr int of_row(int lane) { return lane / row_stride % row_lanes; }
  LEAGUE_FUNCTION static constexpr int with_row(int lane, int i) { return lane + (i - of_row(lane)) * row_stride; }
  /// Adds over the lanes with the same rows; all of them get the same sum. @pre all lanes of the subgroup call
  template <class T>
  LEAGUE_FUNCTION static T add_over_row(T value, int lane) {
    for (int i = 1; i < row_lanes; i *= 2) value += Unit::shuffle(value, lane ^ i * row_stride);
    return value;
  }

  /// Adds a step: this lane's columns of each block from `first_block(part)` on, `deep` rows, and the same rows of the
  /// vectors. The caller assigns rows to places: all lanes of a place take the same rows, different places different
  /// ones. @pre all lanes of the subgroup call
  template <int part = 0>
  LEAGUE_FUNCTION void add(const double (&x)[blocks][lane_columns][deep], const double (&v)[vectors][deep]) {
    constexpr int from = first_block(part), first = unit_of(part), last = unit_of(part + 1), product = product_of(part);
    alignas(16) typename Unit::Word right_words[blocks][Unit::share], left_words[Unit::share];
    typename Unit::fragment_b right[blocks];
    each<Unit, blocks - from>([&](int number) {
      const int block = from + number;
      each<Unit, Unit::share>(
          [&](int i) { right_words[block][i] = bits(x[block][i % lane_columns][i / lane_columns]); });
      Unit::load(right[block], right_words[block], 0);  // the lane's own words
    });
    each<Unit, blocks - from>([&](int number) {
      const int i = from + number;
      typename Unit::fragment_a left = right[i];
      if constexpr (weighted) {
        each<Unit, Unit::share>([&](int word) {
          const int row = word / lane_columns;
          left_words[word] = bits(v[0][row] * x[i][word % lane_columns][row]);
        });
        Unit::load(left, left_words, 0);
      }
      each<Unit, blocks - from>([&](int other) {
        const int j = from + other, unit = Layout::unit(i, j);
        if (j >= i && unit >= first && unit < last) Unit::mma_sync(squares_[unit - first], left, right[j]);
      });
    });
    each<Unit, vectors>([&](int number) {
      each<Unit, product_of(part + 1) - product>([&](int block) {
        each<Unit, lane_columns>([&](int k) {
          each<Unit, deep>(
              [&](int row) { products_[number][block][k] += v[number][row] * x[product + block][k][row]; });
        });
      });
    });
  }

  /// Stores this lane's sums in the team's scratch [scratch_size], or adds them.
  template <int part = 0>
  LEAGUE_FUNCTION void leave(int lane, bool is_first, double* scratch) const {
    constexpr int first = unit_of(part), product = product_of(part);
    const auto put = [&](int at, double sum) { scratch[at] = is_first ? sum : scratch[at] + sum; };
    each<Unit, unit_of(part + 1) - first>([&](int unit) {
      double values[Unit::sums];
      Unit::values(squares_[unit], values);
      for (int i = 0; i < Unit::sums; ++i)
        put((first + unit) * Layout::unit_values + Unit::row(lane, i) * mma::side + Unit::column(lane, i), values[i]);
    });
    each<Unit, vectors>([&](int number) {
      each<Unit, product_of(part + 1) - product>([&](int block) {
        each<Unit, lane_columns>([&](int k) {
          const int at = Layout::product(number, (product + block) * mma::side + column(lane, k));
          put(place(lane) == 0 ? at : beyond(at, place(lane)), products_[number][block][k]);
        });
      });
    });
  }

  /// Value `at` of the layout, once all subgroups have added their sums.
  LEAGUE_FUNCTION static double value(const double* scratch, int at) {
    double sum = scratch[at];
    if (at >= Layout::product(0, 0))
      for (int other = 1; other < lanes_per_column; ++other) sum += scratch[beyond(at, other)];
    return sum;
  }

 private:
  LEAGUE_FUNCTION static typename Unit::Word bits(double value) {
    typename Unit::Word word;
    __builtin_memcpy(&word, &value, sizeof word);
    return word;
  }
  /// Index of the partial P of the lanes of another place than the first.
  LEAGUE_FUNCTION static constexpr int beyond(int at, int place) { return at + place * vectors * Layout::columns; }

  typename Unit::fragment_c squares_[(Layout::units + parts - 1) / parts];
  double products_[vectors][(blocks + parts - 1) / parts][lane_columns] = {};
};

/// Adds the sums of all subgroups of a team in subgroup order, `parts` subgroups at a time.
/// @pre all threads call; the sums are in `scratch` after a barrier
template <class Barrier, class Leave>
LEAGUE_FUNCTION void leave_in_turn(const Group<Barrier>& team, int lanes, int parts, const Leave& leave) {
  const int turns = team.size / lanes / parts, mine = team.rank / lanes / parts;
  for (int turn = 0; turn < turns; ++turn) {
    team.barrier();
    if (turn == mine) leave(team.rank % lanes, turn == 0);
  }
  team.barrier();
}

}  // namespace league::blocks
