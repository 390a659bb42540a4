// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/no_unroll.hpp"
#include "algorithms/blocks/squares.hpp"
#include "algorithms/softmax_regression/mma/digits.hpp"

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
  static constexpr int square_words = steps * units * blocks::mma::piece_words;  ///< of operand B
  static constexpr int totals_bytes = columns * 4;
  /// A lane gets whole rows of a square's sums; else it stores its own elements.
  static constexpr bool by_rows = side % Unit::lanes == 0;
  static_assert(by_rows || (Digits::digits == 1 && units == 1));

  /// Scratch limit of every model (Kokkos: 40 KB on GPUs, 24 KB on hosts).
  static constexpr int max_scratch = alone ? 24'000 : 40'000;
  LEAGUE_FUNCTION static constexpr int row_bytes(int classes) {
    return turns(classes) * (turn_pitch * 4 + columns * static_cast<int>(sizeof(typename Unit::Value)));
  }
  /// Maximum rows of squares per team and round: scratch holds a logit and a residual per row and class.
  LEAGUE_FUNCTION static constexpr int max_round(int classes) {
    const int fit = (max_scratch - totals_bytes) / (side * row_bytes(classes));
    const int held = subgroups * squares_each, exact = Digits::bytes ? max_rows / side : held;
    const int limit = held < exact ? held : exact;
    return fit < limit ? fit : limit;
  }
  /// Rows per round of which a gradient's sums of bytes can be combined in 32 bits: 255 x 64 x 256 + 255 x 128 per row.
  static constexpr int max_rows = 510;
};

/// Scratch of a team: logits, and residuals as pieces [turns][squares][steps].
template <class Tile>
struct MmaScratch {
  using Word = typename Tile::Unit::Word;
  float* logits;    ///< [rows][turns x turn_pitch]
  Word* residuals;  ///< [turns][round][steps][units] pieces
  int* totals;      ///< [columns] sums of the residuals' digits, of the turn being stored

  LEAGUE_FUNCTION static int logits_bytes(int classes) {
    const int logits = Tile::max_round(classes) * Tile::side * turns(classes) * turn_pitch * 4;
    const int losses = Tile::threads * 8;
    return (logits > losses ? logits : losses) / 16 * 16 + 16;
  }
  LEAGUE_FUNCTION static int residuals_bytes(int classes) {
    return turns(classes) * Tile::max_round(classes) * Tile::side * Tile::columns *
           static_cast<int>(sizeof(typename Tile::Unit::Value));
  }
  LEAGUE_FUNCTION static int bytes(int classes) {
    return logits_bytes(classes) + residuals_bytes(classes) + Tile::totals_bytes;
  }
  LEAGUE_FUNCTION MmaScratch(void* scratch, int classes)
      : logits(static_cast<float*>(scratch)),
        residuals(reinterpret_cast<Word*>(static_cast<char*>(scratch) + logits_bytes(classes))),
        totals(reinterpret_cast<int*>(reinterpret_cast<char*>(residuals) + residuals_bytes(classes))) {}
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
  const float* factors;  ///< [turns][classes_together]: the digits' sum is multiplied with it
  const std::int32_t* labels;
  Descent descent;
  void* partials;           ///< [teams][classes][pitch], floats if `resident`, else doubles
  double* losses;           ///< [teams]
  int across, down, round;  ///< round: rows of squares that a team takes at once
  bool resident;            ///< a team has one round; or one turn, and a slot for each square of features

  [[nodiscard]] LEAGUE_FUNCTION const Word* square(int row, int column) const {
    return x + (std::int64_t{row} * across + column) * Squares::words;
  }
  /// Rows of squares [first, last) of the step that team `team` of `teams` takes.
  struct Share {
    int first, last;
  };
  [[nodiscard]] LEAGUE_FUNCTION Share share(std::int64_t step, int team, int teams) const {
    const Rows rows = descent.own_rows(step);
    const int squares = static_cast<int>((rows.last - rows.first + Tile::side - 1) / Tile::side);
    const int begin = descent.batches == 1 ? 0 : static_cast<int>(step % descent.batches) * down;
    const int each = squares / teams, more = squares % teams;  // the first teams take one more
    const int first = begin + team * each + (team < more ? team : more);
    return {first, first + each + (team < more ? 1 : 0)};
  }
  /// Subgroups that share a row of squares for its logits, where a round has `count` of them: each takes a slice of the
  /// features, `min_slice` squares or more, whose partial logits take a row of squares of scratch.
  [[nodiscard]] LEAGUE_FUNCTION int slices(int count) const {
    if (Tile::alone || count == 0 || 2 * count > Tile::subgroups) return 1;
    constexpr int min_slice = 2 * Tile::ahead;
    const int fit = Tile::max_round(descent.classes) / count, idle = Tile::subgroups / count;
    const int worth = across / min_slice, max_slices = fit < idle ? fit : idle;
    return worth < 1 || max_slices < 1 ? 1 : worth < max_slices ? worth : max_slices;
  }
  /// Passes over a round's squares for the gradient of a turn.
  [[nodiscard]] LEAGUE_FUNCTION int spans() const { return (across + Tile::together - 1) / Tile::together; }
};

/// Adds the products of a lane's part of a square, by rows or by columns, with the square's operand B.
template <class Tile, bool by_columns>
LEAGUE_FUNCTION void multiply_square(const typename Tile::Squares::Part& part, const typename Tile::Unit::Word* pieces,
                                     int lane, typename Tile::Unit::fragment_c (&sums)[Tile::tiles][Tile::units]) {
  using Unit = typename Tile::Unit;
  using Squares = typename Tile::Squares;
  blocks::unrolled<Tile::steps>([&](int step) {
    typename Unit::fragment_b y[Tile::units];
    for (int unit = 0; unit < Tile::units; ++unit)
      Unit::load(y[unit], pieces + (step * Tile::units + unit) * blocks::mma::piece_words, lane);
    blocks::unrolled<Tile::tiles>([&](int tile) {
      typename Squares::Operand operand;
      Squares::template take<by_columns>(operand, part, tile, step);
      for (int unit = 0; unit < Tile::units; ++unit) Unit::mma_sync(sums[tile][unit], operand.fragment, y[unit]);
    });
  });
}

/// A subgroup's sums for the logits of a row of squares and a turn of classes.
template <class Unit>
struct MmaLogits {
  using Tile = MmaTile<Unit>;
  using Squares = typename Tile::Squares;
  typename Unit::Sum of[Tile::tiles][Tile::units][Unit::sums] = {};

  /// Adds the products of the squares [begin, end) of `row`. Float sums are flushed to others after some squares, since
  /// the units truncate.
  LEAGUE_FUNCTION void add(const MmaWork<Unit>& work, int row, int turn, int begin, int end, int lane) {
    typename Unit::fragment_c sums[Tile::tiles][Tile::units];
    typename Squares::Part parts[Tile::ahead];
    const auto* next = work.square(row, begin);
    const auto* with = work.weights + (std::int64_t{turn} * work.across + begin) * square_words;
    blocks::unrolled<Tile::ahead>([&](int i) {
      if (i < end - begin) Squares::template load<false>(parts[i], next, lane);
      next += Squares::words;
    });
    LEAGUE_NO_UNROLL
    for (int left = end - begin; left > 0; left -= Tile::ahead) {
      blocks::unrolled<Tile::ahead>([&](int i) {
        if (i >= left) return;
        const typename Squares::Part part = parts[i];
        if (i + Tile::ahead < left) Squares::template load<false>(parts[i], next, lane);
        next += Squares::words;
        multiply_square<Tile, false>(part, with, lane, sums);
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

  /// Stores the logits as those of square `square` of the round; a slice but the first, without the constants.
  LEAGUE_FUNCTION void put(const MmaWork<Unit>& work, int square, int turn, bool first, int lane, float* logits) const {
    const int pitch = turns(work.descent.classes) * turn_pitch;
    const int* constants = work.constants + turn * Tile::columns;
    const float* factors = work.factors + turn * classes_together;
    float* to = logits + square * Tile::side * pitch + turn * turn_pitch;
    if constexpr (Tile::by_rows) {
      const typename Squares::template RowSums<Tile::units> sums(of, lane);
      for (int row = 0; row < sums.rows; ++row) {
        Quad of_row[turn_pitch / 4] = {};
        blocks::each<Unit, classes_together>([&](int c) {
          float sum = 0;
          blocks::unrolled<Tile::Digits::digits>([&](int digit) {
            const int column = digit * classes_together + c;
            sum += static_cast<float>(sums.at(row, column) + static_cast<Sum>(first ? constants[column] : 0)) *
                   static_cast<float>(Tile::Digits::weight_of(digit));
          });
          of_row[c / 4].values[c % 4] = sum * factors[c];
        });
        for (int i = 0; i < turn_pitch / 4; ++i)
          reinterpret_cast<Quad*>(to + (lane + row * Unit::lanes) * pitch)[i] = of_row[i];
      }
    } else {
      blocks::each<Unit, Tile::tiles * Unit::sums>([&](int n) {
        const int tile = n / Unit::sums, i = n % Unit::sums, column = Unit::column(lane, i);
        if (column >= classes_together) return;
        const float sum = of[tile][0][i] + static_cast<float>(first ? constants[column] : 0);
        to[Squares::row_of(tile, Unit::row(lane, i)) * pitch + column] = sum * factors[column];
      });
    }
  }

 private:
  using Sum = typename Unit::Sum;
  static constexpr int square_words = Tile::square_words;
  using Sums = typename Unit::fragment_c[Tile::tiles][Tile::units];
  LEAGUE_FUNCTION void take(const Sums& sums) {
    blocks::unrolled<Tile::tiles * Tile::units>([&](int n) {
      Sum values[Unit::sums];
      Unit::values(sums[n / Tile::units][n % Tile::units], values);
      for (int i = 0; i < Unit::sums; ++i) of[n / Tile::units][n % Tile::units][i] += values[i];
    });
  }
};

}  // namespace league::softmax_regression
