// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/copies_native.hpp"
#include "algorithms/blocks/gathered.hpp"
#include "algorithms/blocks/group.hpp"
#include "algorithms/cnn/state.hpp"

namespace league::cnn {

/// `Operand` for a matrix unit: `height` rows (of B: columns) of floats, `step` of the depth in scratch, rounded to the
/// unit's type when they are loaded. [row][k] if k is contiguous in memory (`by_k`), else [k][row].
template <class Unit, blocks::mma::Operand operand, int height, bool by_k>
struct UnitOperand {
  static constexpr int step = 16, units = step / Unit::depth;
  static constexpr int four_rows =
      4 * height + 8;  ///< of [k][row]: a lane's four values of k are in one, lanes in others
  static constexpr int size = by_k ? height * step : step / 4 * four_rows, packs = height * step / 4;

  /// Offset of a value; of four, if k or row is a multiple of four.
  LEAGUE_FUNCTION static constexpr int at(int row, int k) {
    return by_k ? row * step + k : k / 4 * four_rows + k % 4 * height + row;
  }
  /// The operand in memory: [row][k] if `by_k`, with rows beyond the last one replaced by it; else [k][row], with zeros
  /// beyond the last k. `count`: of rows, or of k.
  struct Source {
    const float* values;
    int stride, count;
  };
  /// Copies step after step, each of `threads` threads its packs of four.
  template <class Copies, int threads>
  class Fetch {
   public:
    LEAGUE_FUNCTION Fetch(int rank, const Source& source) : left_(source.count - k(rank)) {
      blocks::each<Unit, own>([&](int n) {
        const int pack = rank + n * threads, last = source.count - 1;
        const std::int64_t line = !by_k ? k(pack) : row(pack) < last ? row(pack) : last;
        from_[n] = source.values + line * source.stride + (by_k ? k(pack) : row(pack));
      });
      to_ = at(row(rank), k(rank));
      ahead_ = by_k ? step : std::int64_t{step} * source.stride;
    }
    LEAGUE_FUNCTION void next(float* tile) {
      using Packet = typename Copies::Packet;
      blocks::each<Unit, own>([&](int n) {
        auto* to = reinterpret_cast<Packet*>(tile + to_ + at(row(n * threads), k(n * threads)));
        if (by_k || k(n * threads) < left_)
          Copies::copy(to, reinterpret_cast<const Packet*>(from_[n]));
        else
          *to = {};
        from_[n] += ahead_;
      });
      left_ -= step;
    }

   private:
    static constexpr int own = packs / threads;
    static_assert(packs % threads == 0 && (threads == 1 || threads % (by_k ? step / 4 : height) == 0));
    LEAGUE_FUNCTION static constexpr int row(int pack) { return by_k ? pack / (step / 4) : pack % (height / 4) * 4; }
    LEAGUE_FUNCTION static constexpr int k(int pack) { return by_k ? pack % (step / 4) * 4 : pack / (height / 4); }
    const float* from_[own];
    std::int64_t ahead_;
    int to_, left_;
  };

  /// A lane's values of 16 rows. Word w of a row in unit u of the step has values of k = 4 (w % 4) + ...: a unit may
  /// take the depth in any order, the same for both operands.
  struct Values {
    static constexpr int quads = Unit::share / Unit::lane_rows / 2;  ///< words w < 4 of a lane in each of its rows
    Four of[Unit::lane_rows][quads];

    LEAGUE_FUNCTION void load(const float* tile, int first, int lane) {
      blocks::each<Unit, Unit::share>([&](int i) {
        if (high(i)) return;
        const blocks::mma::Place place = Unit::template word_of<operand>(lane, i);
        Four& four = of[Unit::template lane_row<operand>(i)][quad(i)];
        if constexpr (by_k)
          four = *reinterpret_cast<const Four*>(tile + at(first + place.row, 4 * place.word));
        else
          for (int k = 0; k < 4; ++k) four.values[k] = tile[at(first + place.row, 4 * place.word + k)];
      });
    }
    [[nodiscard]] LEAGUE_FUNCTION typename Unit::Word word(int unit, int i) const {
      const Four& four = of[Unit::template lane_row<operand>(i)][quad(i)];
      float values[Unit::per_word];
      for (int e = 0; e < Unit::per_word; ++e) values[e] = four.values[2 * unit + (high(i) ? Unit::per_word : 0) + e];
      return Unit::word(values);
    }

   private:
    LEAGUE_FUNCTION static constexpr bool high(int i) { return Unit::template word_of<operand>(0, i).word >= 4; }
    LEAGUE_FUNCTION static constexpr int quad(int i) {
      return quads == 1 ? 0 : Unit::template word_of<operand>(0, i).word % 4;
    }
  };
};

/// `ProductTile` by a matrix unit: on GPUs 256 threads, a subgroup with 32 rows of sums, copies three steps ahead; on a
/// host one thread.
template <class Unit, int rows, int columns, bool a_by_k, bool b_by_k>
struct UnitProduct {
  using A = UnitOperand<Unit, blocks::mma::Operand::a, rows, a_by_k>;
  using B = UnitOperand<Unit, blocks::mma::Operand::b, columns, b_by_k>;
  using Copies = blocks::NativeCopies;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int side = blocks::mma::side, step = A::step, stages = 3;
  static constexpr int subgroups = alone ? 1 : 256 / Unit::lanes;
  static constexpr int down = alone ? rows / side : 2,
                       across = rows * columns / (side * side * down * subgroups);  ///< units of a subgroup
  static constexpr int subgroups_across = columns / (across * side);
  static constexpr int threads = subgroups * Unit::lanes;
  static constexpr int stage_size = A::size + B::size;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * stages * stage_size;
  static constexpr int run = Unit::run % 2 == 0 ? 2 : 1;  ///< neighbouring columns that are stored together
  using Run = blocks::Pack<float, 4 * run>;

  /// `store(row, column, Run)`.
  template <class Barrier, class Store>
  LEAGUE_FUNCTION static void multiply(const blocks::Group<Barrier>& group, int depth, const typename A::Source& a,
                                       const typename B::Source& b, const Store& store, float* scratch) {
    const int lane = group.rank % Unit::lanes, subgroup = group.rank / Unit::lanes, steps = (depth + step - 1) / step;
    const int first_row = subgroup / subgroups_across * down * side,
              first_column = subgroup % subgroups_across * across * side;
    // A host leaves out units of rows beyond the last one.
    const int used = alone && a_by_k && a.count < rows ? (a.count + side - 1) / side : down;
    typename A::template Fetch<Copies, threads> of_a(group.rank, a);
    typename B::template Fetch<Copies, threads> of_b(group.rank, b);
    const auto after = [&](float* stage) {
      return stage == scratch + (stages - 1) * stage_size ? scratch : stage + stage_size;
    };
    float *to = scratch, *stage = scratch;
    const auto fetch = [&](int number) {
      if (number < steps) of_a.next(to), of_b.next(to + A::size);
      Copies::close();
      to = after(to);
    };
    typename Unit::fragment_c sums[down][across];
    group.barrier();  // the item before
    for (int number = 0; number < stages - 1; ++number) fetch(number);
    for (int number = 0; number < steps; ++number) {
      Copies::template wait<stages - 2>();
      group.barrier();  // the step has arrived, and the stage of the next copies is no longer read
      fetch(number + stages - 1);
      typename A::Values left[down];
      typename B::Values right[across];
      for (int i = 0; i < used; ++i) left[i].load(stage, first_row + i * side, lane);
      for (int j = 0; j < across; ++j) right[j].load(stage + A::size, first_column + j * side, lane);
      blocks::unrolled<A::units>([&](int unit) {
        blocks::Gathered<Unit, blocks::mma::Operand::b> y[across];
        for (int j = 0; j < across; ++j) y[j].gather([&](int word) { return right[j].word(unit, word); });
        for (int i = 0; i < used; ++i) {
          blocks::Gathered<Unit, blocks::mma::Operand::a> x;
          x.gather([&](int word) { return left[i].word(unit, word); });
          for (int j = 0; j < across; ++j) Unit::mma_sync(sums[i][j], x.fragment, y[j].fragment);
        }
      });
      stage = after(stage);
    }
    Copies::template wait<0>();
    blocks::each<Unit, down * across>([&](int n) {
      if (n / across >= used) return;
      typename Unit::Sum values[Unit::sums];
      Unit::values(sums[n / across][n % across], values);
      blocks::each<Unit, Unit::sums / run>([&](int i) {
        Run neighbours;
        for (int e = 0; e < run; ++e) neighbours.values[e] = values[i * run + e];
        store(first_row + n / across * side + Unit::row(lane, i * run),
              first_column + n % across * side + Unit::column(lane, i * run), neighbours);
      });
    });
  }
};

}  // namespace league::cnn
