// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::blocks {

/// A matrix packed once and used as operand A twice: as itself and transposed. It is stored in squares, a square in
/// blocks of 16 bytes: 4 x 4 bytes or 2 x 2 floats. A lane loads equally many blocks for both, and transposes them in
/// registers for the second.
template <class Unit_>
struct Squares {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Packet = Pack<Word>;
  using Value = typename Unit::Value;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int edge = sizeof(Value) == 1 ? 4 : 2;
  static_assert(edge * edge * sizeof(Value) == sizeof(Packet), "bytes, or 4-byte values");
  /// Blocks per side; on a GPU the number of rows of a tile that different lanes hold.
  static constexpr int across = alone ? 8 : mma::side / Unit::lane_rows;
  static constexpr int side = across * edge, words = side * side / Unit::per_word;
  static constexpr int blocks = across * across, block_words = edge * edge / Unit::per_word;
  /// Operands per square: tiles of 16 rows (or columns), and steps of the depth.
  static constexpr int tiles = side / mma::side, steps = side / Unit::depth;

  /// Position of an element.
  struct Position {
    int row, column;
  };
  /// Index of a block in its square: 4 x 4 blocks are contiguous, which neighbouring lanes load (coalesced).
  LEAGUE_FUNCTION static constexpr int block_at(int row, int column) {
    return (row / 4 * (across / 4) + column / 4) * 16 + row % 4 * 4 + column % 4;
  }
  /// Position of the first element of block `number`.
  LEAGUE_FUNCTION static constexpr Position position(int number) {
    const int group = number / 16, groups = across / 4;
    return {(group / groups * 4 + number % 16 / 4) * edge, (group % groups * 4 + number % 4) * edge};
  }
  /// The row (or column) of the square that is row `i` of tile `tile`.
  LEAGUE_FUNCTION static constexpr int row_of(int tile, int i) {
    return alone ? tile * mma::side + i : i % across * edge + tile * Unit::lane_rows + i / across;
  }
  /// The position in operand B's depth (`steps` steps of the unit) of element `element` of a square's depth.
  LEAGUE_FUNCTION static constexpr int depth_of(int element) {
    if constexpr (alone) {
      return element;
    } else {
      const int block = element / edge, of_lane = block / lane_blocks * block_row + element % edge / Unit::per_word;
      const int word = block % lane_blocks + of_lane % lane_words * lane_blocks;
      return of_lane / lane_words * Unit::depth + word * Unit::per_word + element % Unit::per_word;
    }
  }

  /// A lane's part of a square; on a host, a pointer to it.
  struct OfLane {
    Packet block[alone ? 1 : blocks / Unit::lanes];
  };
  struct Where {
    const Word* square;
  };
  using Part = std::conditional_t<alone, Where, OfLane>;
  /// Operand A of one product.
  struct Operand {
    alignas(16) Word word[Unit::share];
    typename Unit::fragment_a fragment;
  };

  /// Of its rows, or of its columns.
  template <bool columns>
  LEAGUE_FUNCTION static void load(Part& part, const Word* square, int lane) {
    if constexpr (alone) {
      part.square = square;
    } else {
      const mma::Place first = Unit::word_of(lane, 0);
      for (int i = 0; i < blocks / Unit::lanes; ++i) {
        const int along = first.word + i * lane_blocks;
        part.block[i] = packet(square, columns ? block_at(along, first.row) : block_at(first.row, along));
      }
    }
  }
  /// Tile `tile`, step `step` of it. Template constants, so that all stays in registers. @pre the operand outlives the
  /// result, which points to it
  template <bool columns>
  LEAGUE_FUNCTION static void take(Operand& operand, const Part& part, int tile, int step) {
    if constexpr (alone)
      for (int word = 0; word < mma::words; ++word) take_word<columns>(operand.word, part.square, tile, step, word);
    else
      unrolled<Unit::share>([&](int i) {
        const int of_lane = step * lane_words + i / Unit::lane_rows, row = tile * Unit::lane_rows + i % Unit::lane_rows;
        const Packet& block = part.block[of_lane / block_row];
        operand.word[i] = (columns ? turned(block) : block).values[row * block_row + of_lane % block_row];
      });
    Unit::load(operand.fragment, operand.word, 0);
  }

  /// The sums of a square of rows times `units` tiles of columns, redistributed: a lane gets all columns of the rows
  /// lane, lane + lanes, ... @pre a square has as many rows as the subgroup lanes, or one lane; all lanes call
  template <int units>
  struct RowSums {
    using Sum = typename Unit::Sum;
    static constexpr int rows = side / Unit::lanes;  ///< per lane
    static_assert(rows * Unit::lanes == side && (alone || rows == 1));

    /// `from`: the elements of all fragments.
    LEAGUE_FUNCTION RowSums(const Sum (&from)[tiles][units][Unit::sums], int lane) {
      each<Unit, tiles * units>([&](int n) {
        each<Unit, Unit::sums>([&](int i) {
          const int row = i / per_unit, column = i % per_unit;
          value_[held_row(n / units, row)][n % units * per_unit + column] =
              from[n / units][n % units][Unit::sum_at(row, column)];
        });
      });
      transpose<1>(lane);
    }
    /// Column `column` of the lane's row number `row`. Constants, so that all stays in registers.
    [[nodiscard]] LEAGUE_FUNCTION Sum at(int row, int column) const {
      const int of_unit = column % mma::side, unit = column / mma::side;
      if constexpr (alone) return value_[row][column];
      Sum found{};
      unrolled<mma::side>([&](int n) {
        const int peer = n / per_unit, i = n % per_unit;
        if (Unit::column(peer, Unit::sum_at(0, i)) == of_unit) found = value_[peer][unit * per_unit + i];
      });
      return found;
    }

   private:
    static constexpr int per_unit = Unit::sums / Unit::sum_rows;  ///< columns per lane and unit
    static constexpr int peers = mma::side / per_unit;            ///< lanes with other columns of the same rows
    static constexpr int held = tiles * Unit::sum_rows;           ///< rows per lane before
    static_assert(alone || held == peers);

    /// Which of the peers' rows it is.
    LEAGUE_FUNCTION static constexpr int held_row(int tile, int row) {
      return row_of(tile, Unit::row(0, Unit::sum_at(row, 0))) % held;
    }
    /// A matrix of `peers` rows in `peers` lanes, log2(peers) exchanges.
    template <int bit>
    LEAGUE_FUNCTION void transpose([[maybe_unused]] int lane) {
      if constexpr (bit < peers) {
        const bool upper = (lane & bit) != 0;
        unrolled<peers / 2 * columns>([&](int n) {
          const int pair = n / columns, low = pair / bit * 2 * bit + pair % bit, i = n % columns;
          Sum &first = value_[low][i], &second = value_[low + bit][i];
          const Sum other = Unit::shuffle(upper ? first : second, lane ^ bit);
          (upper ? first : second) = other;
        });
        transpose<2 * bit>(lane);
      }
    }
    static constexpr int columns = units * per_unit;
    Sum value_[held][columns];
  };

  /// Transposes a block.
  LEAGUE_FUNCTION static Packet turned(const Packet& block) {
    const auto& [a, b, c, d] = block.values;
    if constexpr (edge == 2) {
      return {{a, c, b, d}};
    } else {
      const Word ab = mixed<0x5140>(a, b), cd = mixed<0x5140>(c, d);  // bytes 0 and 1 of both, then 2 and 3
      const Word ab2 = mixed<0x7362>(a, b), cd2 = mixed<0x7362>(c, d);
      return {{mixed<0x5410>(ab, cd), mixed<0x7632>(ab, cd), mixed<0x5410>(ab2, cd2), mixed<0x7632>(ab2, cd2)}};
    }
  }

 private:
  static constexpr int block_row = edge / Unit::per_word;           ///< words per row of a block
  static constexpr int lane_blocks = Unit::lanes / across;          ///< neighbouring blocks, in different lanes
  static constexpr int lane_words = Unit::share / Unit::lane_rows;  ///< of a row, of one step

  LEAGUE_FUNCTION static Packet packet(const Word* square, int number) {
    return *reinterpret_cast<const Packet*>(square + number * block_words);
  }
  /// Four of the eight bytes of two words; `which` is the selector of PRMT.
  template <unsigned which>
  LEAGUE_FUNCTION static Word mixed(Word low, Word high) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return __byte_perm(low, high, which);
#else
    Word result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned from = which >> 4 * i & 7U;
      result |= ((from < 4 ? low : high) >> 8 * (from % 4) & 0xffU) << 8 * i;
    }
    return result;
#endif
  }
  /// One word of all rows of a tile, on a host.
  template <bool columns>
  LEAGUE_FUNCTION static void take_word(Word* out, const Word* square, int tile, int step, int word) {
    const int element = step * Unit::depth + word * Unit::per_word;
    for (int i = 0; i < mma::side; i += edge) {
      const int row = (tile * mma::side + i) / edge, column = element / edge;
      const Packet block = packet(square, columns ? block_at(column, row) : block_at(row, column));
      const Packet way = columns ? turned(block) : block;
      for (int k = 0; k < edge; ++k)
        out[Unit::offset(i + k, word)] = way.values[k * block_row + element % edge / Unit::per_word];
    }
  }
};

}  // namespace league::blocks
