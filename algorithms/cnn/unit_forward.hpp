// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/gathered.hpp"
#include "algorithms/cnn/cnn.hpp"
#include "algorithms/cnn/forward.hpp"

/// The convolutions forward, the second one on a matrix unit: a team's work, the same in CUDA, HIP, Kokkos and on one
/// host thread.
namespace league::cnn {

/// The form of the outputs; `backward`: the convolutions' backward pass is on the unit, too.
template <class Unit>
constexpr const char* form_of(bool backward) {
  if (Unit::element == blocks::mma::Element::bf16) return backward ? Cnn::bf16_backward : Cnn::bf16;
  return backward ? Cnn::tf32_backward : Cnn::tf32;
}

/// The second convolution's weights as operand B: pieces [step][blocks of 16 outputs]. A step has `Unit::depth` input
/// channels of one tap; steps are [channels][kx][ky].
template <class Unit>
struct Filters {
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  static constexpr int groups = channels1 / Unit::depth, units = channels2 / blocks::mma::side;
  static constexpr int step_words = units * blocks::mma::piece_words;

  LEAGUE_FUNCTION static int step(int group, int kx, int ky) { return (group * 3 + kx) * 3 + ky; }
  /// The offset of a weight, in values.
  LEAGUE_FUNCTION static int at(int o, int c, int tap) {
    const int piece = step(c / Unit::depth, tap % 3, tap / 3) * units + o / blocks::mma::side;
    return blocks::mma::value_of_b<Unit>(piece, o, c);
  }
};

/// `Forward` as an implicit product: positions x (channels and taps) times weights. A team takes a third of an image,
/// three tiles of 4 x 4 windows; a subgroup the 8 x 8 positions of a tile and half of the output channels. The
/// factors are rounded to the unit's type, the first convolution and all sums are f32.
///
/// Row `row` of unit `f` of a tile: position (f + 4 (pair / 4), 2 (pair % 4) + lower), where pair and lower are those
/// of `RowPairs`. So a lane has all four positions of its windows, and a tap below moves to the next unit: six units of
/// a1 serve three taps of four units.
template <class Unit_>
struct UnitForward {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int own = 4;  ///< windows of a tile, across and down
  static constexpr int parts = pooled_side / own, tiles = parts, part_windows = windows / parts;
  static constexpr int rows = 2 * own, rows1 = rows + 2, rows0 = rows + 4;
  static constexpr int down = rows * rows / blocks::mma::side, across = 2;  ///< units of a subgroup
  static constexpr int outputs = across * blocks::mma::side, jobs = tiles * channels2 / outputs;
  static constexpr int subgroups = alone ? 1 : jobs, threads = subgroups * Unit::lanes, min_teams = 2;

  // The first convolution's output, as words of the unit: [y][x % 2][x / 2][channels], padded so that the lanes' words
  // are in different banks.
  static constexpr int pitch1 = channels1 / Unit::per_word + 4, row1 = side1 * pitch1, skew1 = 16;
  static constexpr int a1_words = rows1 * row1 + (rows1 - 1) / own * skew1;
  static constexpr int x_size = rows0 * side;
  // Results; on a GPU in place of the former.
  static constexpr int pitch = part_windows + 2, values_size = channels2 * pitch;
  static constexpr int result_words = values_size + channels2 * part_windows / 4;
  static constexpr int result_at = alone ? a1_words : 0;
  static constexpr int scratch_bytes =
      static_cast<int>(sizeof(float)) * (x_size + a1_words + (alone ? result_words : 0));
  static_assert(down == own && result_words <= a1_words && (alone || scratch_bytes <= 40'000));

  LEAGUE_FUNCTION static int items(int images) { return parts * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int item, float* scratch) {
    const int i = item / parts, part = item % parts, rank = group.rank;
    if (i >= take.count) return;
    float* x = scratch;
    auto* a1 = reinterpret_cast<Word*>(scratch + x_size);
    float* values = scratch + x_size + result_at;
    auto* decisions = reinterpret_cast<std::uint8_t*>(values + values_size);
    group.barrier();  // the item before
    const std::uint8_t* image = take.image(i) + part * rows * side;
    for (int at = rank; at < x_size; at += threads) x[at] = pixel<float>(image[at]);
    group.barrier();
    convolve_first(s, rank, x, a1);
    group.barrier();
    for (int job = rank / Unit::lanes; job < jobs; job += subgroups) {
      Sums sums;
      multiply(reinterpret_cast<const Word*>(memory.forward2), a1, job, rank % Unit::lanes, sums);
      group.barrier();
      pool(s, sums, job, rank % Unit::lanes, values, decisions);
    }
    group.barrier();
    write_pooled<threads, part_windows, pitch>(s, take, i, part, rank, values, decisions);
  }

 private:
  using Pairs = blocks::RowPairs<Unit>;
  struct Sums {
    typename Unit::fragment_c of[down][across];
  };

  /// Offset of position (y, 0), and from there of position (y, x).
  LEAGUE_FUNCTION static constexpr int row_at(int y) { return y * row1 + y / own * skew1; }
  LEAGUE_FUNCTION static constexpr int column_at(int x) { return (x % 2 * (side1 / 2) + x / 2) * pitch1; }

  /// A thread takes half a row of a channel at a time.
  LEAGUE_FUNCTION static void convolve_first(const State& s, int rank, const float* x, Word* a1) {
    constexpr int half = side1 / 2;
    for (int task = rank; task < rows1 * 2 * channels1; task += threads) {
      const int c = task % channels1, first = task / channels1 % 2 * half, row = task / channels1 / 2;
      float kernel[taps];
      for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + c * taps + t];
      auto* to = reinterpret_cast<Value*>(a1 + row_at(row)) + c;
      const int even = column_at(first) * Unit::per_word, odd = column_at(first + 1) * Unit::per_word;
      convolve_row<half>(kernel, s.weights[conv1_biases + c], x + row * side + first, [&](int n, float value) {
        to[(n % 2 == 0 ? even : odd) + n / 2 * pitch1 * Unit::per_word] =
            blocks::mma::Traits<Unit::element>::narrow(value);
      });
    }
  }
  LEAGUE_FUNCTION static void multiply(const Word* filters, const Word* a1, int job, int lane, Sums& sums) {
    const Word* from = a1 + column_at(job % tiles * rows);
    const Word* weights = filters + job / tiles * across * blocks::mma::piece_words;
    for (int group = 0; group < Filters<Unit>::groups; ++group) {
      blocks::unrolled<3>([&](int kx) {
        blocks::Gathered<Unit, blocks::mma::Operand::a> a[down + 2];
        blocks::unrolled<down + 2>([&](int y) {
          a[y].gather([&](int i) {
            const blocks::mma::Place place = Unit::word_of(lane, i);
            const int pair = Pairs::pair(place.row), right = Pairs::lower(place.row) ? 1 : 0;
            return from[row_at(own) * (pair / 4) + column_at(2) * (pair % 4) + place.word + row_at(y) +
                        column_at(kx + right)];
          });
        });
        blocks::unrolled<3>([&](int ky) {
          typename Unit::fragment_b b[across];
          for (int n = 0; n < across; ++n)
            Unit::load(
                b[n],
                weights + Filters<Unit>::step(0, kx, ky) * Filters<Unit>::step_words + n * blocks::mma::piece_words,
                lane);
          blocks::unrolled<down * across>([&](int n) {
            Unit::mma_sync(sums.of[n / across][n % across], a[n / across + ky].fragment, b[n % across]);
          });
        });
      });
      from += blocks::mma::words;
      weights += Filters<Unit>::step(1, 0, 0) * Filters<Unit>::step_words;
    }
  }
  /// Bias and pool: the maximum of a window is above 0 if the sum with the bias is.
  LEAGUE_FUNCTION static void pool(const State& s, const Sums& sums, int job, int lane, float* values,
                                   std::uint8_t* decisions) {
    const int first = job / tiles * outputs, left = job % tiles * own;
    blocks::unrolled<down / 2 * across>([&](int number) {
      const int wy = number / across, n = number % across;
      typename Unit::Sum upper[Unit::sums], lower[Unit::sums];
      Unit::values(sums.of[2 * wy][n], upper);
      Unit::values(sums.of[2 * wy + 1][n], lower);
      blocks::each<Unit, Unit::sums>([&](int i) {
        if (Pairs::lower(Unit::row(0, i))) return;
        const float found[4] = {upper[i], upper[i + Pairs::step], lower[i], lower[i + Pairs::step]};
        int best = 0;
        float value = found[0];
        for (int place = 1; place < 4; ++place)
          if (found[place] > value) value = found[place], best = place;
        const int o = first + n * blocks::mma::side + Unit::column(lane, i), pair = Pairs::pair(Unit::row(lane, i));
        const int at = (wy + pair / 4 * 2) * pooled_side + left + pair % 4;
        value += s.weights[conv2_biases + o];
        values[o * pitch + at] = value;
        decisions[o * part_windows + at] = Decision::of(best, value > 0);
      });
    });
  }
};

}  // namespace league::cnn
