// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/copies.hpp"
#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::blocks {

/// How the subgroups of a group share a tile of products made by a matrix unit: `down` x `across` subgroups, each with
/// `units_down` x `units_across` products [16 x 16]. Scratch holds `stages` steps of both operands; none where `stages`
/// is 0: then operands are read where they lie, as on a host.
template <class Unit_, int down_, int across_, int units_down_, int units_across_, int stages_>
struct UnitTile {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Sum = typename Unit::Sum;
  static constexpr int down = down_, across = across_, units_down = units_down_, units_across = units_across_;
  static constexpr int stages = stages_;
  static constexpr int rows = down * units_down * mma::side, columns = across * units_across * mma::side;
  static constexpr int threads = down * across * Unit::lanes;
  static constexpr int row_words = rows * mma::words, stage_words = (rows + columns) * mma::words;
  static constexpr int scratch_bytes = stages * stage_words * static_cast<int>(sizeof(Word));

  /// Where the products of a thread's subgroup begin, in units.
  LEAGUE_FUNCTION static constexpr int first_down(int thread) { return thread / Unit::lanes / across * units_down; }
  LEAGUE_FUNCTION static constexpr int first_across(int thread) { return thread / Unit::lanes % across * units_across; }
};

/// A thread's sums of a tile: products with those of its subgroup.
template <class Tile>
struct TileSums {
  typename Tile::Unit::fragment_c products[Tile::units_down][Tile::units_across];
};

/// The same as numbers, which may be written to.
template <class Tile>
struct TileValues {
  using Unit = typename Tile::Unit;
  typename Tile::Sum of[Tile::units_down][Tile::units_across][Unit::sums];

  LEAGUE_FUNCTION explicit TileValues(const TileSums<Tile>& sums) {
    unrolled<Tile::units_down>(
        [&](int i) { unrolled<Tile::units_across>([&](int j) { Unit::values(sums.products[i][j], of[i][j]); }); });
  }
  /// Calls `body(row, column, values)` for each part of a row that the thread has: Unit::run values from `column` on.
  template <class Body>
  LEAGUE_FUNCTION void for_runs(int thread, const Body& body) {
    const int lane = thread % Unit::lanes;
    unrolled<Tile::units_down>([&](int i) {
      unrolled<Tile::units_across>([&](int j) {
        const auto run = [&](int first) {
          body((Tile::first_down(thread) + i) * mma::side + Unit::row(lane, first),
               (Tile::first_across(thread) + j) * mma::side + Unit::column(lane, first), of[i][j] + first);
        };
        if constexpr (Unit::lanes > 1)  // in registers
          unrolled<Unit::sums / Unit::run>([&](int n) { run(n * Unit::run); });
        else
          for (int first = 0; first < Unit::sums; first += Unit::run) run(first);
      });
    });
  }
};

/// Makes one tile of products after another, c[row][column] = a[row] . b[column], step by step of the depth, with the
/// operands of the next steps, also those of the next tile, on their way. All tiles have the same rows; their columns
/// follow one another. `a` and `b` are pieces (`mma::Pieces`) of panels as high as the tile has rows and columns.
/// @pre group.size == Tile::threads; scratch has Tile::scratch_bytes, aligned to 16, and all threads are done with it
template <class Tile, class Copies, class Group>
class Pipeline {
  using Word = typename Tile::Word;

 public:
  LEAGUE_FUNCTION Pipeline(const Group& group, Word* scratch, const Word* a, const Word* b, int steps, int tiles)
      : group_(group), scratch_(scratch), a_(a), b_(b), steps_(steps), left_(steps * tiles) {
    if constexpr (Tile::stages > 0)
      for (int stage = 0; stage < Tile::stages - 1; ++stage) fetch();
  }

  /// The next tile.
  LEAGUE_FUNCTION void next(TileSums<Tile>& sums) {
    for (int step = 0; step < steps_; ++step) {
      if constexpr (Tile::stages == 0) {
        multiply(a_ + step * Tile::row_words, b_, sums);
        b_ += Tile::columns * mma::words;
      } else {
        Copies::template wait<Tile::stages - 2>();
        group_.barrier();  // the copies of all are there, and all are done with the stage that is filled next
        fetch();
        const Word* stage = scratch_ + read_ * Tile::stage_words;
        multiply(stage, stage + Tile::row_words, sums);
        read_ = read_ + 1 < Tile::stages ? read_ + 1 : 0;
      }
    }
  }

 private:
  using Packet = PlainCopies::Packet;

  /// Starts to copy one more step, if there is one.
  LEAGUE_FUNCTION void fetch() {
    if (left_ > 0) {
      Word* stage = scratch_ + written_ * Tile::stage_words;
      copy(stage, a_ + step_ * Tile::row_words, Tile::row_words);
      copy(stage + Tile::row_words, b_, Tile::columns * mma::words);
      b_ += Tile::columns * mma::words;
      step_ = step_ + 1 < steps_ ? step_ + 1 : 0;
      written_ = written_ + 1 < Tile::stages ? written_ + 1 : 0;
      --left_;
    }
    Copies::close();
  }
  LEAGUE_FUNCTION void copy(Word* to, const Word* from, int words) const {
    const int packets = words * static_cast<int>(sizeof(Word)) / static_cast<int>(sizeof(Packet));
    for (int i = group_.rank; i < packets; i += Tile::threads)
      Copies::copy(reinterpret_cast<Packet*>(to) + i, reinterpret_cast<const Packet*>(from) + i);
  }
  LEAGUE_FUNCTION void multiply(const Word* a, const Word* b, TileSums<Tile>& sums) const {
    using Unit = typename Tile::Unit;
    const int lane = group_.rank % Unit::lanes;
    a += Tile::first_down(group_.rank) * mma::piece_words;
    b += Tile::first_across(group_.rank) * mma::piece_words;
    typename Unit::fragment_b y[Tile::units_across];
    for (int j = 0; j < Tile::units_across; ++j) Unit::load(y[j], b + j * mma::piece_words, lane);
    for (int i = 0; i < Tile::units_down; ++i) {
      typename Unit::fragment_a x;
      Unit::load(x, a + i * mma::piece_words, lane);
      for (int j = 0; j < Tile::units_across; ++j) Unit::mma_sync(sums.products[i][j], x, y[j]);
    }
  }

  const Group& group_;
  Word* scratch_;
  const Word *a_, *b_;
  int steps_, left_;                       ///< of the depth; to be fetched, over all tiles
  int step_ = 0, written_ = 0, read_ = 0;  ///< the next to be fetched, and the stages where it goes and where to read
};

}  // namespace league::blocks
