// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/squares.hpp"
#include "algorithms/softmax_regression/mma_digits.hpp"

/// The work of the `mma` kernels between barriers, the same in CUDA and Kokkos: `fused`, with both products by matrix
/// units.
namespace league::softmax_regression {

/// Work distribution in a team: for the logits a subgroup takes whole rows of squares; for the gradient `slots` squares
/// of features, whose sums it keeps in registers.
template <class Unit_>
struct MmaTile {
  using Unit = Unit_;
  using Digits = MmaDigits<Unit>;
  using Squares = blocks::Squares<Unit>;
  using Sum = typename Unit::Sum;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int subgroups = alone ? 1 : 512 / Unit::lanes;
  static constexpr int threads = subgroups * Unit::lanes;
  static constexpr int squares_each = alone ? 8 : 1;  ///< maximum rows of squares per subgroup and round
  static constexpr int slots = alone ? 1 : Digits::bytes ? 2 : 4;
  static constexpr int together = subgroups * slots;  ///< squares of features whose sums a team keeps
  static constexpr int ahead = alone ? 1 : 2;         ///< prefetched squares per subgroup
  static constexpr int side = Squares::side, tiles = Squares::tiles, steps = Squares::steps;
  static constexpr int units = Digits::units, columns = units * blocks::mma::side;
  static constexpr int exchange_pitch = columns + 8;  ///< padded against bank conflicts
  static constexpr int exchange_words = blocks::mma::side * exchange_pitch;

  /// Scratch limit of every model (Kokkos: 40 KB on GPUs, 24 KB on hosts).
  static constexpr int max_scratch = alone ? 24'000 : 40'000;
  LEAGUE_FUNCTION static constexpr int row_bytes(int classes) {
    return turns(classes) * (turn_pitch * 4 + columns * static_cast<int>(sizeof(typename Unit::Value)));
  }
  /// Maximum rows of squares per team and round: scratch holds a logit and a residual per row and class.
  LEAGUE_FUNCTION static constexpr int max_round(int classes) {
    const int fit = (max_scratch - columns * 4) / (side * row_bytes(classes));
    return fit < subgroups * squares_each ? fit : subgroups * squares_each;
  }
};

/// Scratch of a team: logits, reused later to exchange sums, and residuals as pieces [turns][squares][steps].
template <class Tile>
struct MmaScratch {
  using Word = typename Tile::Unit::Word;
  float* logits;    ///< [rows][turns x turn_pitch]
  Word* residuals;  ///< [turns][round][steps][units] pieces
  int* totals;      ///< [columns] sums of the residuals' digits, of the turn being stored
  int exchanged;    ///< subgroups whose sums fit in the space of the logits

  LEAGUE_FUNCTION static int logits_bytes(int classes) {
    const int logits = Tile::max_round(classes) * Tile::side * turns(classes) * turn_pitch * 4;
    const int losses = Tile::threads * 8, exchange = Tile::exchange_words * 4;
    return ((logits > losses ? logits : losses) > exchange ? (logits > losses ? logits : losses) : exchange) / 16 * 16 +
           16;
  }
  LEAGUE_FUNCTION static int residuals_bytes(int classes) {
    return turns(classes) * Tile::max_round(classes) * Tile::side * Tile::columns *
           static_cast<int>(sizeof(typename Tile::Unit::Value));
  }
  LEAGUE_FUNCTION static int bytes(int classes) {
    return logits_bytes(classes) + residuals_bytes(classes) + Tile::columns * 4;
  }
  LEAGUE_FUNCTION MmaScratch(void* scratch, int classes)
      : logits(static_cast<float*>(scratch)),
        residuals(reinterpret_cast<Word*>(static_cast<char*>(scratch) + logits_bytes(classes))),
        totals(reinterpret_cast<int*>(reinterpret_cast<char*>(residuals) + residuals_bytes(classes))),
        exchanged(logits_bytes(classes) / (Tile::exchange_words * 4)) {
    if (exchanged > Tile::subgroups) exchanged = Tile::subgroups;
  }
};

/// Arguments of the kernels.
template <class Unit>
struct MmaWork {
  using Tile = MmaTile<Unit>;
  using Squares = blocks::Squares<Unit>;
  using Word = typename Unit::Word;
  const Word* x;         ///< squares [batches][down][across]
  const Word* weights;   ///< pieces [turns][across x steps][units]
  const int* constants;  ///< [turns][columns]: added to a logit's sum
  const float* factors;  ///< [turns][columns]: then multiplied with it
  const std::int32_t* labels;
  Descent descent;
  void* partials;           ///< [teams][classes][pitch], floats where sums stay in registers, else doubles
  double* losses;           ///< [teams]
  int across, down, round;  ///< round: rows of squares that a team takes at once
  bool resident;            ///< one turn, and all squares of features have a slot

  [[nodiscard]] LEAGUE_FUNCTION const Word* square(int row, int column) const {
    return x + (std::int64_t{row} * across + column) * Squares::words;
  }
  /// Rows of squares [first, last) of the step that team `team` of `teams` takes.
  struct Share {
    int first, last;
  };
  [[nodiscard]] LEAGUE_FUNCTION Share share(std::int64_t step, int team, int teams) const {
    const Rows rows = descent.own_rows(step);
    const std::int64_t squares = (rows.last - rows.first + Tile::side - 1) / Tile::side;
    const std::int64_t begin = descent.batches == 1 ? 0 : step % descent.batches * down;
    return {static_cast<int>(begin + squares * team / teams), static_cast<int>(begin + squares * (team + 1) / teams)};
  }
  /// Passes over a round's squares for the gradient of a turn.
  [[nodiscard]] LEAGUE_FUNCTION int spans() const { return (across + Tile::together - 1) / Tile::together; }
};

/// A subgroup's sums for the logits of a row of squares and a turn of classes.
template <class Unit>
struct MmaLogits {
  using Tile = MmaTile<Unit>;
  using Squares = typename Tile::Squares;
  typename Unit::Sum of[Tile::tiles][Tile::units][Unit::sums] = {};

  /// Adds the products of all squares of `row`. Float sums are flushed to others after some squares, since the units
  /// truncate.
  LEAGUE_FUNCTION void add(const MmaWork<Unit>& work, int row, int turn, int lane) {
    typename Unit::fragment_c sums[Tile::tiles][Tile::units];
    typename Squares::Part parts[Tile::ahead];
    const auto* next = work.square(row, 0);
    const auto* with = work.weights + std::int64_t{turn} * work.across * square_words;
    blocks::unrolled<Tile::ahead>([&](int i) {
      if (i < work.across) Squares::template load<false>(parts[i], next, lane);
      next += Squares::words;
    });
    for (int left = work.across; left > 0; left -= Tile::ahead) {
      blocks::unrolled<Tile::ahead>([&](int i) {
        if (i >= left) return;
        const typename Squares::Part part = parts[i];
        if (i + Tile::ahead < left) Squares::template load<false>(parts[i], next, lane);
        next += Squares::words;
        multiply(part, with, lane, sums);
        with += square_words;
      });
      if constexpr (!Tile::Digits::bytes) {
        take(sums);
        for (auto& of_tile : sums)
          for (auto& sum : of_tile) sum = {};
      }
    }
    if constexpr (Tile::Digits::bytes) take(sums);
  }

  /// Stores digit `digit` of the logits of square `square` of the round: the first digit writes, the others add.
  LEAGUE_FUNCTION void put(const MmaWork<Unit>& work, int square, int turn, int digit, int lane, float* logits) const {
    const int pitch = turns(work.descent.classes) * turn_pitch;
    float* to = logits + square * Tile::side * pitch + turn * turn_pitch;
    blocks::each<Unit, Tile::units * Unit::sums>([&](int n) {
      const int unit = n / Unit::sums, i = n % Unit::sums, column = unit * blocks::mma::side + Unit::column(lane, i);
      if (column / classes_together != digit) return;
      const Sum constant = static_cast<Sum>(work.constants[turn * Tile::columns + column]);
      const float factor = work.factors[turn * Tile::columns + column];
      blocks::each<Unit, Tile::tiles>([&](int tile) {
        const float value = static_cast<float>(of[tile][unit][i] + constant) * factor;
        float& logit = to[Squares::row_of(tile, Unit::row(lane, i)) * pitch + column % classes_together];
        logit = digit == 0 ? value : logit + value;
      });
    });
  }

 private:
  using Sum = typename Unit::Sum;
  static constexpr int square_words = Tile::steps * Tile::units * blocks::mma::piece_words;
  using Sums = typename Unit::fragment_c[Tile::tiles][Tile::units];
  LEAGUE_FUNCTION static void multiply(const typename Squares::Part& part, const typename Unit::Word* weights, int lane,
                                       Sums& sums) {
    blocks::unrolled<Tile::steps>([&](int step) {
      typename Unit::fragment_b y[Tile::units];
      for (int unit = 0; unit < Tile::units; ++unit)
        Unit::load(y[unit], weights + (step * Tile::units + unit) * blocks::mma::piece_words, lane);
      blocks::unrolled<Tile::tiles>([&](int tile) {
        typename Squares::Operand operand;
        Squares::template take<false>(operand, part, tile, step);
        for (int unit = 0; unit < Tile::units; ++unit) Unit::mma_sync(sums[tile][unit], operand.fragment, y[unit]);
      });
    });
  }
  LEAGUE_FUNCTION void take(const Sums& sums) {
    blocks::unrolled<Tile::tiles * Tile::units>([&](int n) {
      Sum values[Unit::sums];
      Unit::values(sums[n / Tile::units][n % Tile::units], values);
      for (int i = 0; i < Unit::sums; ++i) of[n / Tile::units][n % Tile::units][i] += values[i];
    });
  }
};

}  // namespace league::softmax_regression
