// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/copies.hpp"
#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::blocks {

/// A tile of products by a matrix unit, shared by `down` x `across` subgroups with `units_down` x `units_across`
/// products [16 x 16] each. Scratch holds `stages` steps of both operands (of split units both parts). `stages` = 0:
/// operands are read from global memory, as on hosts. One barrier per `together` steps.
template <class Unit_, int down_, int across_, int units_down_, int units_across_, int stages_, int together_ = 1>
struct UnitTile {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Sum = typename Unit::Sum;
  static constexpr int down = down_, across = across_, units_down = units_down_, units_across = units_across_;
  static constexpr int stages = stages_, together = together_;
  static_assert(stages == 0 || (stages >= 2 * together && (together == 1 || Unit::parts == 1)));
  static constexpr int rows = down * units_down * mma::side, columns = across * units_across * mma::side;
  static constexpr int threads = down * across * Unit::lanes;
  static constexpr int depth = Unit::depth;  ///< elements of a row in a step
  static constexpr int row_words = rows * mma::words * Unit::parts, column_words = columns * mma::words * Unit::parts;
  static constexpr int stage_words = row_words + column_words;
  static constexpr int scratch_bytes = stages * stage_words * static_cast<int>(sizeof(Word));
  static constexpr int row_values =
      units_across * Unit::sums / Unit::sum_rows;           ///< values of a thread in each of its rows
  static constexpr int row_threads = columns / row_values;  ///< threads that share a row

  /// First products of a thread's subgroup, in units.
  LEAGUE_FUNCTION static constexpr int first_down(int thread) { return thread / Unit::lanes / across * units_down; }
  LEAGUE_FUNCTION static constexpr int first_across(int thread) { return thread / Unit::lanes % across * units_across; }
  /// The column of value `number` of each of a thread's rows.
  LEAGUE_FUNCTION static constexpr int column(int thread, int number) {
    constexpr int of_unit = Unit::sums / Unit::sum_rows;
    return (first_across(thread) + number / of_unit) * mma::side +
           Unit::column(thread % Unit::lanes, Unit::sum_at(0, number % of_unit));
  }
  /// A thread's number among those that share its rows.
  LEAGUE_FUNCTION static constexpr int place_in_row(int thread) {
    return thread / Unit::lanes % across * (row_threads / across) + Unit::column(thread % Unit::lanes, 0) / Unit::run;
  }
};

/// A thread's sums of a tile, as fragments.
template <class Tile>
struct TileSums {
  typename Tile::Unit::fragment_c products[Tile::units_down][Tile::units_across];
};

/// The same as numbers, writable.
template <class Tile>
struct TileValues {
  using Unit = typename Tile::Unit;
  static constexpr int row_values = Tile::row_values;
  typename Tile::Sum of[Tile::units_down][Tile::units_across][Unit::sums];

  LEAGUE_FUNCTION explicit TileValues(const TileSums<Tile>& sums) {
    unrolled<Tile::units_down>(
        [&](int i) { unrolled<Tile::units_across>([&](int j) { Unit::values(sums.products[i][j], of[i][j]); }); });
  }
  LEAGUE_FUNCTION static constexpr int column(int thread, int number) { return Tile::column(thread, number); }
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
  /// Calls `body(row, values)` for each row of which the thread has values: Tile::row_values, those of
  /// Tile::column(thread, 0, 1, ...).
  template <class Body>
  LEAGUE_FUNCTION void for_rows(int thread, const Body& body) const {
    constexpr int of_unit = Unit::sums / Unit::sum_rows;
    unrolled<Tile::units_down>([&](int i) {
      const auto one = [&](int row) {
        typename Tile::Sum values[Tile::row_values];
        unrolled<Tile::units_across>([&](int j) {
          for (int n = 0; n < of_unit; ++n) values[j * of_unit + n] = of[i][j][Unit::sum_at(row, n)];
        });
        body((Tile::first_down(thread) + i) * mma::side + Unit::row(thread % Unit::lanes, Unit::sum_at(row, 0)),
             values);
      };
      if constexpr (Unit::lanes > 1)  // in registers
        unrolled<Unit::sum_rows>(one);
      else
        for (int row = 0; row < Unit::sum_rows; ++row) one(row);
    });
  }
};

/// Computes one tile of products after another, c[row][column] = a[row] . b[column], as a software pipeline over the
/// steps of the depth, across the ends of tiles: prefetch from memory into scratch `stages` steps ahead, from scratch
/// into registers one step. A step of a split unit has three times the products and twice the fragments; these are not
/// prefetched into registers, and copies are one step less ahead. All tiles have the same rows and successive columns.
/// `a` and `b` are panels of `steps` pieces (`mma::Pieces`), as high as the tile has rows and columns.
/// @pre group.size == Tile::threads; scratch has Tile::scratch_bytes, aligned to 16, no longer in use by any thread
template <class Tile, class Copies, class Group>
class Pipeline {
  using Unit = typename Tile::Unit;
  using Word = typename Tile::Word;

 public:
  LEAGUE_FUNCTION Pipeline(const Group& group, Word* scratch, const Word* a, const Word* b, int steps, int tiles)
      : group_(group),
        scratch_(scratch),
        first_a_(a),
        a_(a),
        b_(b),
        steps_(steps / Unit::parts),
        left_(steps_ * tiles) {
    for (int stage = is_split ? 1 : Tile::together - 1; stage < Tile::stages; ++stage) fetch();
    if constexpr (!is_split && Tile::stages > 0) {
      Copies::template wait<Tile::stages - Tile::together>();
      group_.barrier();
    }
  }

  /// Computes the next tile. Where there are stages, the group meets at a barrier at least once: what a thread has read
  /// of the group's scratch before the call, others may write after it.
  LEAGUE_FUNCTION void next(TileSums<Tile>& sums) {
    if constexpr (Tile::stages == 0) {
      for (int step = 0; step < steps_; ++step, b_ += Tile::column_words)
        multiply(of_a(first_a_ + step * Tile::row_words), of_b(b_), sums);
    } else if constexpr (is_split) {
      for (int step = 0; step < steps_; ++step) {
        Copies::template wait<Tile::stages - 2>();
        group_.barrier();  // all copies have arrived, and the stage of the next copies is no longer read
        fetch();
        multiply(stage_of_a(), stage_of_b(), sums);
      }
    } else {
      typename Unit::fragment_a x[Tile::units_down];
      typename Unit::fragment_b y[2][Tile::units_across];  // of this step and of the next
      if constexpr (Tile::together > 1)
        if (turn_ > 0 && turn_ + steps_ <= Tile::together) group_.barrier();  // none of the steps has one
      load(x, y[0]);
      if (steps_ % 2 != 0) {
        turn(sums, x, y[0], y[1]);
        for (int j = 0; j < Tile::units_across; ++j) y[0][j] = y[1][j];
      }
      for (int step = 1; step < steps_; step += 2) {
        turn(sums, x, y[0], y[1]);
        turn(sums, x, y[1], y[0]);
      }
    }
  }

 private:
  using Packet = PlainCopies::Packet;
  static constexpr bool is_split = Unit::parts == 2;

  /// The pieces of this subgroup in a step of an operand.
  [[nodiscard]] LEAGUE_FUNCTION const Word* of_a(const Word* step) const {
    return step + Tile::first_down(group_.rank) * mma::piece_words;
  }
  [[nodiscard]] LEAGUE_FUNCTION const Word* of_b(const Word* step) const {
    return step + Tile::first_across(group_.rank) * mma::piece_words;
  }
  /// The stage to read next: with one step per barrier, the one after the stage just fetched.
  [[nodiscard]] LEAGUE_FUNCTION const Word* stage() const { return scratch_ + (Tile::together > 1 ? read_ : at_); }
  [[nodiscard]] LEAGUE_FUNCTION const Word* stage_of_a() const { return of_a(stage()); }
  [[nodiscard]] LEAGUE_FUNCTION const Word* stage_of_b() const { return of_b(stage() + Tile::row_words); }
  LEAGUE_FUNCTION static int after(int stage) {
    return stage < (Tile::stages - 1) * Tile::stage_words ? stage + Tile::stage_words : 0;
  }
  template <class A, class B>
  LEAGUE_FUNCTION void load(A& x, B& y) const {
    const int lane = group_.rank % Unit::lanes;
    for (int j = 0; j < Tile::units_across; ++j) Unit::load(y[j], stage_of_b() + j * mma::piece_words, lane);
    for (int i = 0; i < Tile::units_down; ++i) Unit::load(x[i], stage_of_a() + i * mma::piece_words, lane);
  }
  /// Adds the products of x and y, and prefetches the fragments of the next step.
  template <class A, class B>
  LEAGUE_FUNCTION void turn(TileSums<Tile>& sums, A& x, B& y, B& next_y) {
    const int lane = group_.rank % Unit::lanes;
    if (turn_ == 0) {
      Copies::template wait<Tile::stages - 2 * Tile::together>();
      group_.barrier();  // all copies have arrived, and the stage of the next copies is no longer read
      for (int step = 0; step < Tile::together; ++step) fetch();
    }
    if constexpr (Tile::together > 1) {
      turn_ = turn_ + 1 < Tile::together ? turn_ + 1 : 0;
      read_ = after(read_);
    }
    for (int j = 0; j < Tile::units_across; ++j) Unit::load(next_y[j], stage_of_b() + j * mma::piece_words, lane);
    for (int i = 0; i < Tile::units_down; ++i) {
      for (int j = 0; j < Tile::units_across; ++j) Unit::mma_sync(sums.products[i][j], x[i], y[j]);
      Unit::load(x[i], stage_of_a() + i * mma::piece_words, lane);
    }
  }
  /// Starts the copies of the next step, if any, into the stage that is free.
  LEAGUE_FUNCTION void fetch() {
    Word* stage = scratch_ + at_;
    at_ = after(at_);
    if (left_ > 0) {
      copy<Tile::row_words>(stage, a_);
      copy<Tile::column_words>(stage + Tile::row_words, b_);
      b_ += Tile::column_words;
      step_ = step_ + 1 < steps_ ? step_ + 1 : 0;
      a_ = step_ > 0 ? a_ + Tile::row_words : first_a_;
      --left_;
    }
    Copies::close();
  }
  template <int words>
  LEAGUE_FUNCTION void copy(Word* to, const Word* from) const {
    constexpr int packets = words * static_cast<int>(sizeof(Word)) / static_cast<int>(sizeof(Packet));
    constexpr int whole = packets / Tile::threads;
    const auto one = [&](int i) {
      Copies::copy(reinterpret_cast<Packet*>(to) + i, reinterpret_cast<const Packet*>(from) + i);
    };
    unrolled<whole>([&](int i) { one(group_.rank + i * Tile::threads); });
    if (packets % Tile::threads != 0 && group_.rank < packets % Tile::threads) one(group_.rank + whole * Tile::threads);
  }
  /// Adds the products of a step whose operands have arrived, in scratch or in memory.
  LEAGUE_FUNCTION void multiply(const Word* a, const Word* b, TileSums<Tile>& sums) const {
    const int lane = group_.rank % Unit::lanes;
    typename Unit::fragment_b y[Unit::parts][Tile::units_across];
    for (int part = 0; part < Unit::parts; ++part)
      for (int j = 0; j < Tile::units_across; ++j)
        Unit::load(y[part][j], b + part * Tile::columns * mma::words + j * mma::piece_words, lane);
    for (int i = 0; i < Tile::units_down; ++i) {
      typename Unit::fragment_a x[Unit::parts];
      for (int part = 0; part < Unit::parts; ++part)
        Unit::load(x[part], a + part * Tile::rows * mma::words + i * mma::piece_words, lane);
      const auto add = [&](int of_x, int of_y) {
        for (int j = 0; j < Tile::units_across; ++j) Unit::mma_sync(sums.products[i][j], x[of_x], y[of_y][j]);
      };
      if constexpr (is_split) {
        add(1, 0);  // the small products first
        add(0, 1);
      }
      add(0, 0);
    }
  }

  const Group& group_;
  Word* scratch_;
  const Word *first_a_, *a_, *b_;  ///< start of A; next to fetch
  int steps_, left_;               ///< of the depth; left to fetch, over all tiles
  int step_ = 0, at_ = 0;          ///< next step to fetch, and its stage [words]
  int turn_ = 0, read_ = 0;        ///< steps since the last barrier; stage to read next [words]
};

}  // namespace league::blocks
