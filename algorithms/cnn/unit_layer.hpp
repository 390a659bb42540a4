// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/gathered.hpp"
#include "algorithms/blocks/no_unroll.hpp"
#include "algorithms/cnn/gpu_layers.hpp"

/// Convolutions of any shape as implicit products on a matrix unit: what forward pass and backward pass share. A team's
/// work is the same in CUDA, HIP, Kokkos and on one host thread.
namespace league::cnn {

/// Weights as operand B: pieces [step][blocks of 16 outputs]. A step has `Unit::depth` input channels of one tap. The
/// first convolution has few channels: a pixel is four values, the last of them 0, and a step covers neighbouring
/// pixels, 16 values for a row of taps; the weights of the fourth pixel are 0. Steps are [depth][kx][ky].
template <class Unit, bool pixels, int outputs>
struct UnitFilters {
  static constexpr int columns = pixels ? 1 : 3;  ///< of taps, with steps of their own
  static constexpr int units = outputs / blocks::mma::side, step_words = units * blocks::mma::piece_words;

  LEAGUE_FUNCTION static constexpr int step(int group, int kx, int ky) { return (group * columns + kx) * 3 + ky; }
  /// The offset of a weight, in values.
  LEAGUE_FUNCTION static int at(int o, int c, int tap) {
    const int k = pixels ? tap % 3 * 4 + c : c;
    const int piece = step(k / Unit::depth, pixels ? 0 : tap % 3, tap / 3) * units + o / blocks::mma::side;
    return blocks::mma::value_of_b<Unit>(piece, o, k);
  }
  /// Words of all steps, for so many values of a column of taps.
  static constexpr int words(int values) { return values / Unit::depth * columns * 3 * step_words; }
};

/// Planes in scratch, as words of a unit: [row][x][words of channels].
struct UnitPlanes {
  int row, pitch;  ///< words of a row, of a position
};

/// Adds products to the sums [blocks x high][across] of positions x 16 outputs each. Row `r` of a lane in block `n`
/// begins at `planes + at[n][r]`; a unit of a block lies one row of positions below the former, so that `high` + 2
/// fragments serve three taps of `high` units. `filters`: of the lane's first output.
template <class Unit, class Filters, UnitPlanes of, int groups, int blocks_, int high, int across>
LEAGUE_FUNCTION void correlate_units(const typename Unit::Word* filters, const typename Unit::Word* planes,
                                     const int (&at)[blocks_][Unit::lane_rows], int lane,
                                     typename Unit::fragment_c (&sums)[blocks_ * high][across]) {
  using blocks::mma::Operand;
  LEAGUE_NO_UNROLL
  for (int n = 0; n < groups * Filters::columns; ++n) {
    const typename Unit::Word* from =
        planes + n / Filters::columns * blocks::mma::words + n % Filters::columns * of.pitch;
    typename Unit::fragment_b b[3][across];
    blocks::unrolled<3 * across>([&](int k) {
      Unit::load(b[k / across][k % across],
                 filters + k / across * Filters::step_words + k % across * blocks::mma::piece_words, lane);
    });
    blocks::unrolled<blocks_*(high + 2)>([&](int row) {
      const int of_block = row / (high + 2), y = row % (high + 2);
      blocks::Gathered<Unit, Operand::a> a;
      a.gather([&](int i) { return from[at[of_block][Unit::lane_row(i)] + Unit::word_of(lane, i).word + y * of.row]; });
      blocks::unrolled<3 * across>([&](int k) {
        const int ky = k / across, unit = y - ky;
        if (unit >= 0 && unit < high)
          Unit::mma_sync(sums[of_block * high + unit][k % across], a.fragment, b[ky][k % across]);
      });
    });
    filters += 3 * Filters::step_words;
  }
}

/// The rows of operand A of which a lane has words: `take(r, row)` for each.
template <class Unit, class Take>
LEAGUE_FUNCTION void each_lane_row(int lane, const Take& take) {
  blocks::each<Unit, Unit::share>([&](int i) { take(Unit::lane_row(i), Unit::word_of(lane, i).row); });
}

/// Four values in the unit's type.
template <class Unit>
using FourValues = blocks::Pack<typename Unit::Value, 4 * static_cast<int>(sizeof(typename Unit::Value))>;

}  // namespace league::cnn
