// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/softmax_regression/mma/kernel.hpp"

/// `mma` for pixels with few features and one turn of classes: a subgroup takes a row of squares from the logits to the
/// gradient, with its own scratch and no barrier of the team. Softmax is by lane: a lane has a row's logits in
/// registers. The sums of pixels' bytes stay in registers over all rows of the team, and are combined in 64 bits.
namespace league::softmax_regression {

/// `slots`: maximum squares of features, whose sums a subgroup keeps in registers.
template <class Unit_, int slots_>
struct NarrowTile {
  using Unit = Unit_;
  using Digits = MmaDigits<Unit>;
  using Squares = blocks::Squares<Unit>;
  using Word = typename Unit::Word;
  static constexpr int slots = slots_;
  static constexpr int subgroups = (slots > 2 ? 256 : 512) / Unit::lanes, threads = subgroups * Unit::lanes;
  static constexpr int side = Squares::side, tiles = Squares::tiles, steps = Squares::steps;
  static constexpr int units = Digits::units, columns = units * blocks::mma::side;
  static constexpr int square_words = steps * units * blocks::mma::piece_words;  ///< of operand B
  /// Rows of squares per team and round: a subgroup's sums of products of signed bytes, 2^14 at most, are exact.
  static constexpr int max_round = subgroups * ((1 << 17) - 1) / side;
};

/// Logits are to base 2, which exponentials take fewer instructions for.
inline constexpr float log2e = 0x1.715476p0F, ln2 = 0x1.62e43p-1F;

/// Whether a unit's rows of squares can be taken so: of bytes, a row per lane.
template <class Unit>
inline constexpr bool has_narrow = MmaDigits<Unit>::bytes && blocks::Squares<Unit>::side == Unit::lanes;

/// Scratch of a team.
template <class Tile>
struct NarrowScratch {
  using Word = typename Tile::Word;
  static constexpr int square_bytes = Tile::square_words * static_cast<int>(sizeof(Word));
  static constexpr int sums_bytes = Tile::side * classes_together * 4;
  static constexpr int small_bytes = Tile::columns * 4 + 2 * turn_pitch * 4;
  static constexpr int totals_bytes = Tile::subgroups * classes_together * 8;
  static constexpr int bytes = Tile::slots * square_bytes + small_bytes + totals_bytes +
                               Tile::subgroups * (square_bytes > sums_bytes ? square_bytes : sums_bytes);
  static_assert(bytes <= MmaTile<typename Tile::Unit>::max_scratch && bytes >= Tile::threads * 8);
  static_assert(square_bytes % 16 == 0 && small_bytes % 16 == 0 && totals_bytes % 16 == 0);

  Word* weights;           ///< [slots] squares of operand B
  int* constants;          ///< [columns]: added to a logit's sum
  Quad *factors, *shifts;  ///< [turn_pitch] floats: a logit (to base 2) is its sum times the factor, plus the shift
  std::int64_t* totals;    ///< [subgroups][classes_together]: the sums of a subgroup's residuals
  Word* residuals;         ///< [subgroups] squares of operand B
  float* sums;             ///< in the same place: [subgroups][classes_together][side] gradients of a slot

  LEAGUE_FUNCTION explicit NarrowScratch(void* memory) {
    char* at = static_cast<char*>(memory);
    weights = reinterpret_cast<Word*>(at);
    constants = reinterpret_cast<int*>(at += Tile::slots * square_bytes);
    factors = reinterpret_cast<Quad*>(at + Tile::columns * 4);
    shifts = factors + turn_pitch / 4;
    totals = reinterpret_cast<std::int64_t*>(at += small_bytes);
    residuals = reinterpret_cast<Word*>(at += totals_bytes);
    sums = reinterpret_cast<float*>(at);
  }
};

/// Writes the weights of class `c` as operand B, by a subgroup; for a class beyond the last, only its factor and shift.
/// @pre the pieces are zero
template <class Tile>
LEAGUE_FUNCTION void split_by_lanes(const NarrowScratch<Tile>& scratch, const Descent& descent, int c, int lane) {
  using Unit = typename Tile::Unit;
  using Digits = typename Tile::Digits;
  constexpr int digits = Digits::digits;
  float* factor = scratch.factors[c / 4].values + c % 4;
  float* shift = scratch.shifts[c / 4].values + c % 4;
  if (c >= descent.classes) {
    if (lane == 0) *factor = 0, *shift = no_logit;
    return;
  }
  float weights[Tile::slots], largest = 0;
  for (int slot = 0; slot < Tile::slots; ++slot) {
    const int f = slot * Tile::side + lane;
    weights[slot] = f <= descent.features ? descent.weights[std::int64_t{c} * descent.weights_pitch + f] : 0;
    largest = fabsf(weights[slot]) > largest ? fabsf(weights[slot]) : largest;
  }
  for (int bit = 1; bit < Unit::lanes; bit *= 2) {
    const float other = Unit::shuffle(largest, lane ^ bit);
    largest = other > largest ? other : largest;
  }
  const float scale = Digits::scale_of(largest), inverse = 1 / scale;  // a power of two
  int sums[digits] = {};
  for (int slot = 0; slot < Tile::slots; ++slot) {
    const int f = slot * Tile::side + lane;
    std::int8_t values[digits];
    Digits::split(Digits::fixed(weights[slot] * inverse), values);
    for (int digit = 0; digit < digits; ++digit) {
      sums[digit] += values[digit] * (f < descent.features ? Digits::moved : 255);
      if (f < descent.features)
        Digits::put(scratch.weights + slot * Tile::square_words, digit * classes_together + c, lane, values[digit]);
    }
  }
  for (int bit = 1; bit < Unit::lanes; bit *= 2)
    for (int digit = 0; digit < digits; ++digit) sums[digit] += Unit::shuffle(sums[digit], lane ^ bit);
  if (lane != 0) return;
  *factor = scale / Digits::one * log2e;
  *shift = 0;
  for (int digit = 0; digit < digits; ++digit) scratch.constants[digit * classes_together + c] = sums[digit];
}

/// The elements of all fragments.
template <class Tile>
LEAGUE_FUNCTION void values_of(const typename Tile::Unit::fragment_c (&sums)[Tile::tiles][Tile::units],
                               typename Tile::Unit::Sum (&values)[Tile::tiles][Tile::units][Tile::Unit::sums]) {
  blocks::unrolled<Tile::tiles * Tile::units>([&](int n) {
    Tile::Unit::values(sums[n / Tile::units][n % Tile::units], values[n / Tile::units][n % Tile::units]);
  });
}

/// A row's logits from the sums of their digits, then its residuals as operand B, by a lane. @returns the row's loss, 0
/// for a row without a label (-1)
template <class Tile, class RowSums>
LEAGUE_FUNCTION double finish_lane(const NarrowScratch<Tile>& scratch, const RowSums& sums, int label,
                                   typename Tile::Word* residuals, int lane) {
  using Digits = typename Tile::Digits;
  static_assert(Digits::digits == 3);
  float z[classes_together], largest = no_logit, of_label = 0, sum = 0;
  blocks::unrolled<classes_together>([&](int c) {
    // With 256 features the upper digits fit in 32 bits: 255 x 64 x 256 + 255 x 128 per feature.
    static_assert(Tile::slots * Tile::side <= 256);
    const int upper = sums.at(0, c) * 256 + sums.at(0, classes_together + c),
              lower = sums.at(0, 2 * classes_together + c);
    z[c] = (static_cast<float>(upper) * 256 + static_cast<float>(lower)) * scratch.factors[c / 4].values[c % 4] +
           scratch.shifts[c / 4].values[c % 4];
    largest = fmaxf(z[c], largest);
    of_label = c == label ? z[c] : of_label;
  });
  blocks::unrolled<classes_together>([&](int c) { sum += z[c] = exp2f(z[c] - largest); });
  const float factor = label < 0 ? 0 : 1 / sum;
  blocks::unrolled<classes_together>([&](int c) {
    std::int8_t values[Digits::digits];
    Digits::split(Digits::fixed(z[c] * factor - (c == label ? 1.0F : 0.0F)), values);
    for (int digit = 0; digit < Digits::digits; ++digit)
      Digits::put(residuals, digit * classes_together + c, lane, values[digit]);
  });
  return label < 0 ? 0 : static_cast<double>(logf(sum) + (largest - of_label) * ln2);
}

/// A team's share of a step: the weights as operand B, then the rows; stores the partial gradient. @returns the losses
/// of this thread's rows
template <class Unit, int slots, class Group>
LEAGUE_FUNCTION double take_narrow_share(const Group& group, const MmaWork<Unit>& work, std::int64_t step, int team,
                                         int teams, void* memory) {
  using Tile = NarrowTile<Unit, slots>;
  using Digits = typename Tile::Digits;
  using Squares = typename Tile::Squares;
  using Sum = typename Unit::Sum;
  using Sums = typename Squares::template RowSums<Tile::units>;
  constexpr int of_lane = Unit::sums / Unit::sum_rows;  // columns
  const NarrowScratch<Tile> scratch(memory);
  const Descent& descent = work.descent;
  const int lane = group.rank % Unit::lanes, subgroup = group.rank / Unit::lanes;
  const auto squares = work.share(step, team, teams);
  const Rows rows = descent.own_rows(step);
  auto* residuals = scratch.residuals + subgroup * Tile::square_words;

  int row = squares.first + subgroup;
  typename Squares::Part next[slots];  // of the subgroup's next row of squares
  const auto fetch = [&] {
    blocks::unrolled<slots>([&](int slot) {
      if (row < squares.last && slot < work.across)
        Squares::template load<false>(next[slot], work.square(row, slot), lane);
    });
  };
  fetch();
  for (int i = group.rank; i < slots * Tile::square_words; i += group.size) scratch.weights[i] = 0;
  if (group.rank < Tile::columns) scratch.constants[group.rank] = 0;
  group.barrier();
  for (int c = subgroup; c < classes_together; c += Tile::subgroups) split_by_lanes(scratch, descent, c, lane);
  group.barrier();
  int constants[Tile::units][of_lane];
  blocks::unrolled<Tile::units * of_lane>([&](int n) {
    constants[n / of_lane][n % of_lane] =
        scratch.constants[n / of_lane * blocks::mma::side + Unit::column(lane, Unit::sum_at(0, n % of_lane))];
  });

  double loss = 0;
  bool stored = false;
  int first = squares.first;
  do {
    const int last = work.round < squares.last - first ? first + work.round : squares.last;
    for (int i = lane; i < Tile::square_words; i += Unit::lanes) residuals[i] = 0;  // columns without a class
    typename Unit::fragment_c gradient[slots][Tile::tiles][Tile::units];
    while (row < last) {
      const std::int64_t number = std::int64_t{row % work.down} * Tile::side + lane;  // in the batch
      const int label = number < rows.last - rows.first ? work.labels[rows.first + number] : -1;
      Sum values[Tile::tiles][Tile::units][Unit::sums];
      {
        typename Unit::fragment_c sums[Tile::tiles][Tile::units];
        blocks::unrolled<slots>([&](int slot) {
          if (slot < work.across)
            multiply_square<Tile, false>(next[slot], scratch.weights + slot * Tile::square_words, lane, sums);
        });
        values_of<Tile>(sums, values);
      }
      const int here = row;
      row += Tile::subgroups;
      fetch();
      blocks::unrolled<Tile::tiles * Tile::units>([&](int n) {
        blocks::unrolled<Unit::sums>([&](int i) {
          values[n / Tile::units][n % Tile::units][Unit::sum_at(i / of_lane, i % of_lane)] +=
              constants[n % Tile::units][i % of_lane];
        });
      });
      Unit::sync();  // the residuals of the row before have been read
      loss += finish_lane(scratch, Sums(values, lane), label, residuals, lane);
      Unit::sync();
      blocks::unrolled<slots>([&](int slot) {
        if (slot >= work.across) return;
        typename Squares::Part part;
        Squares::template load<true>(part, work.square(here, slot), lane);
        multiply_square<Tile, true>(part, residuals, lane, gradient[slot]);
      });
    }
    blocks::unrolled<slots>([&](int back) {  // the last square has the constant feature, 1: the sums of the residuals
      const int slot = slots - 1 - back;
      if (slot >= work.across) return;
      Sum values[Tile::tiles][Tile::units][Unit::sums];
      values_of<Tile>(gradient[slot], values);
      const Sums sums(values, lane);
      const auto sum_of = [&](int c) {
        return (std::int64_t{sums.at(0, c)} * 256 + sums.at(0, classes_together + c)) * 256 +
               sums.at(0, 2 * classes_together + c);
      };
      const int feature = slot * Tile::side + lane;
      std::int64_t* totals = scratch.totals + subgroup * classes_together;
      if (feature == descent.features) blocks::unrolled<classes_together>([&](int c) { totals[c] = sum_of(c); });
      group.barrier();  // all residuals have been read
      // Adds 128 to every pixel again; the constant feature is 255.
      const int more = feature < descent.features ? Digits::moved : 254;
      float* own = scratch.sums + subgroup * classes_together * Tile::side + lane;
      blocks::unrolled<classes_together>(
          [&](int c) { own[c * Tile::side] = static_cast<float>(sum_of(c) + totals[c] * more) * (1 / Digits::one); });
      group.barrier();
      for (int i = group.rank; i < descent.classes * Tile::side; i += group.size) {
        const int f = slot * Tile::side + i % Tile::side;
        if (f >= descent.pitch) continue;
        double sum = 0;
        for (int of = 0; of < Tile::subgroups; ++of)
          sum += static_cast<double>(scratch.sums[of * classes_together * Tile::side + i]);
        float& to = static_cast<float*>(
            work.partials)[(std::int64_t{team} * descent.classes + i / Tile::side) * descent.pitch + f];
        to = (stored ? to : 0) + static_cast<float>(sum);
      }
    });
    group.barrier();
    stored = true;
    first += work.round;
  } while (first < squares.last);
  return loss;
}

}  // namespace league::softmax_regression
