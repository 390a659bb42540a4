// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/unit_layer.hpp"

/// Gradients of the weights of convolutions of any shape on a matrix unit.
namespace league::cnn {

/// Rows of windows of a band; parts of a row of positions, each with subgroups of its own; bands that are worth a set
/// of sums; teams per multiprocessor.
struct UnitWeightsTiling {
  int window_rows, splits, bands_of_set, teams;
};
/// Of the network cifar10.
template <class N>
struct UnitWeightsTilings;
template <>
struct UnitWeightsTilings<Cifar10> {
  static constexpr UnitWeightsTiling of[] = {{5, 4, 1, 2}, {3, 1, 2, 2}, {4, 1, 4, 3}};
};

/// Gradient of convolution `n`: output channels x (input channels and taps), summed over positions and images. Teams
/// take bands of images and 16 input channels; a subgroup 16 output channels and all taps. Of the first convolution,
/// the 16 channels are the values of four neighbouring pixels of a row, which hold a row of taps.
///
/// The depth of a step is 4 neighbouring positions in each of two rows; the elements of a word are those of
/// neighbouring images, so that a tap is another row or column of whole words. Gradients are stored as windows,
/// rounded, with the place of the maximum in the lowest bits, and expanded in registers.
template <class N, int n, class Unit_>
struct UnitLayerWeights {
  using L = Layer<N, n>;
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  using Traits = blocks::mma::Traits<Unit::element>;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr UnitWeightsTiling tiling = UnitWeightsTilings<N>::of[n];
  static constexpr int edge = blocks::mma::side, columns = L::first ? 1 : 3, units = 3 * columns;
  static constexpr int blocks_of_inputs = L::first ? 1 : L::inputs / edge, splits = tiling.splits;
  static constexpr int output_jobs = L::outputs / edge, jobs = output_jobs * splits;
  static constexpr int subgroups = alone ? 1 : jobs, threads = subgroups * Unit::lanes;
  static constexpr int min_teams = tiling.teams;
  static constexpr int together = Unit::per_word;  ///< images
  static constexpr int bands = L::window_side / tiling.window_rows, band_windows = tiling.window_rows * L::window_side;
  static constexpr int rows = tiling.window_rows * L::step, rows1 = rows + 2;
  static constexpr int steps = (L::live_side + 3) / 4;  ///< of a row
  // Scratch: gradients [image][output][window]; inputs [row][x][channel]. In place of them the sums of splits and of
  // the biases.
  static constexpr int d_pitch = band_windows | 1, d_words = (together * L::outputs * d_pitch + 3) / 4 * 4;
  static constexpr int pitch = L::first ? 4 : edge + 8;
  static constexpr int beyond = L::first ? 3 : 0;  ///< positions that are read behind the last row
  static constexpr int a_words = (rows1 * L::side + beyond) * pitch;
  static constexpr int own = L::outputs / subgroups, bias_pitch = Unit::lanes + 1;  ///< rows of gradients of a subgroup
  static constexpr int split_words = alone || splits == 1 ? 0 : units * Unit::sums * output_jobs * Unit::lanes;
  static constexpr int bias_words = alone ? 0 : L::outputs * bias_pitch;
  static constexpr int sums_words = split_words > bias_words ? split_words : bias_words;
  static constexpr int scratch_bytes =
      static_cast<int>(sizeof(Word)) * (d_words + a_words > sums_words ? d_words + a_words : sums_words);
  static constexpr int weights = L::outputs * L::inputs * taps, all = weights + L::outputs;
  static_assert(L::window_side % tiling.window_rows == 0 && rows % 2 == 0 && L::outputs % subgroups == 0);
  static_assert(steps % splits == 0 && (alone || (scratch_bytes <= 40'000 && threads >= L::outputs)));

  /// Sets of sums that are worth while for so many images.
  static int max_sets(int images) { return items(images) / tiling.bands_of_set; }
  /// The parameter of sum `at` of a set: weights are [output][tap][input].
  LEAGUE_FUNCTION static int parameter(int at) {
    if (at >= weights) return L::biases + at - weights;
    const int o = at / (taps * L::inputs), tap = at / L::inputs % taps, c = at % L::inputs;
    return L::weights + (o * L::inputs + c) * taps + tap;
  }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const StateOf<N>& s,
                                  const LayersMemory<N>& memory, const TakeOf<N>& take, int team, int teams,
                                  float* scratch) {
    const int share = team % blocks_of_inputs, number = team / blocks_of_inputs, sets = teams / blocks_of_inputs;
    const int lane = group.rank % Unit::lanes, subgroup = group.rank / Unit::lanes;
    auto* d = reinterpret_cast<std::uint32_t*>(scratch);
    auto* a = reinterpret_cast<Word*>(scratch + d_words);
    Sums sums[alone ? output_jobs : 1];
    float biases[own] = {};
    for (int item = number; item < items(take.count); item += sets) {
      const int first = item / bands * together, band = item % bands;
      group.barrier();
      blocks::unrolled<together>(
          [&](int of) { stage_gradients(s, memory, take, first, of, band, lane, subgroup, biases, d); });
      if constexpr (L::first)
        stage_pixels(take, first, band * rows, group.rank, a);
      else
        stage_inputs(memory, take, first, band * rows, share * edge, group.rank, a);
      group.barrier();
      for (int job = subgroup; job < jobs; job += subgroups)
        multiply(d + job % output_jobs * edge * d_pitch, a, job / output_jobs, lane,
                 sums[alone ? job % output_jobs : 0]);
    }
    float* out = memory.partials[n] + std::int64_t{number} * all;
    for (int turn = 0; turn < (alone ? 1 : splits); ++turn) {
      if (splits > 1) group.barrier();
      for (int job = subgroup; job < output_jobs * (turn + 1); job += subgroups)
        if (alone || job / output_jobs == turn)
          add(turn, job % output_jobs, share, lane, sums[alone ? job : 0], scratch, out);
    }
    add_biases(group, share, biases, scratch, out + weights);
  }

 private:
  static_assert(Unit::share % (2 * Unit::lane_rows) == 0);
  static constexpr int quads = Unit::share / Unit::lane_rows / 2;  ///< neighbouring positions of which a lane has words
  struct Sums {
    typename Unit::fragment_c of[units];
  };
  /// A lane's words of a row of inputs.
  struct Row {
    Word of[Unit::lane_rows][quads];
  };

  LEAGUE_FUNCTION static int items(int images) { return (images + together - 1) / together * bands; }
  LEAGUE_FUNCTION static constexpr int lower(int i) {
    return Unit::template word_of<blocks::mma::Operand::b>(0, i).word / 4;
  }
  LEAGUE_FUNCTION static constexpr int quad(int i) {
    return quads == 1 ? 0 : Unit::template word_of<blocks::mma::Operand::b>(0, i).word % 4;
  }

  /// Stages the gradients of image `of` of a word, a row of windows of an output per subgroup; all loads are in flight
  /// together. Adds them to the lane's sums.
  LEAGUE_FUNCTION static void stage_gradients(const StateOf<N>& s, const LayersMemory<N>& memory, const TakeOf<N>& take,
                                              int first, int of, int band, int lane, int subgroup, float (&biases)[own],
                                              std::uint32_t* to) {
    constexpr int turns = (band_windows + Unit::lanes - 1) / Unit::lanes;
    const bool here = first + of < take.count;
    const std::int64_t i = here ? first + of : first;
    const float* from = gradient_of<N, n>(s, memory) + i * L::values + band * band_windows;
    const std::uint8_t* from_decisions = s.pool_decisions + i * N::decisions + L::decisions + band * band_windows;
    float values[own * turns];
    std::uint8_t decisions[own * turns];
    blocks::each<Unit, own * turns>([&](int at) {
      const int o = at / turns * subgroups + subgroup, window = lane + at % turns * Unit::lanes;
      const bool inside = window < band_windows;
      values[at] = inside && here ? from[o * L::windows + window] : 0;
      decisions[at] = inside ? from_decisions[o * L::windows + window] : std::uint8_t{0};
    });
    blocks::each<Unit, own * turns>([&](int at) {
      const int o = at / turns * subgroups + subgroup, window = lane + at % turns * Unit::lanes;
      biases[at / turns] += values[at];
      if (window < band_windows)
        to[(of * L::outputs + o) * d_pitch + window] = blocks::mma::bits_of(Traits::widen(Traits::narrow(values[at]))) |
                                                       static_cast<std::uint32_t>(Decision::place(decisions[at]));
    });
  }
  /// Stages pixels as four values.
  LEAGUE_FUNCTION static void stage_pixels(const TakeOf<N>& take, int first, int top, int rank, Word* a) {
    for (int at = rank; at < rows1 * L::side + beyond; at += threads) {
      blocks::Pack<Word> pixel{};
      for (int c = 0; c < L::inputs && at < rows1 * L::side; ++c) {
        float values[together];
        for (int of = 0; of < together; ++of)
          values[of] =
              N::pixel(take.image(first + of < take.count ? first + of : first)[c * L::plane + top * L::side + at]);
        pixel.values[c] = Unit::word(values);
      }
      *reinterpret_cast<blocks::Pack<Word>*>(a + at * pitch) = pixel;
    }
  }
  LEAGUE_FUNCTION static void stage_inputs(const LayersMemory<N>& memory, const TakeOf<N>& take, int first, int top,
                                           int channel, int rank, Word* a) {
    constexpr int fours = edge / 4;
    const auto* from = reinterpret_cast<const Value*>(memory.a[n - 1]) + top * L::side * L::inputs + channel;
    for (int at = rank; at < rows1 * L::side * fours; at += threads) {
      FourValues<Unit> values[together];
      for (int of = 0; of < together; ++of) {
        const std::int64_t i = first + of < take.count ? first + of : first;
        values[of] = *reinterpret_cast<const FourValues<Unit>*>(from + i * L::plane * L::inputs +
                                                                at / fours * L::inputs + at % fours * 4);
      }
      blocks::Pack<Word> words;
      for (int c = 0; c < 4; ++c) {
        Value word[together];
        for (int of = 0; of < together; ++of) word[of] = values[of].values[c];
        __builtin_memcpy(&words.values[c], word, sizeof(Word));
      }
      *reinterpret_cast<blocks::Pack<Word>*>(a + at / fours * pitch + at % fours * 4) = words;
    }
  }
  LEAGUE_FUNCTION static void multiply(const std::uint32_t* d, const Word* a, int split, int lane, Sums& sums) {
    using blocks::mma::Operand;
    for (int step = split; step < steps; step += splits) {
      Row inputs[columns][rows1];
      const auto load = [&](int kx, int y) {
        blocks::each<Unit, Unit::share>([&](int i) {
          if (lower(i) > 0) return;
          const blocks::mma::Place place = Unit::template word_of<Operand::b>(lane, i);
          inputs[kx][y].of[Unit::template lane_row<Operand::b>(i)][quad(i)] =
              a[(step * 4 + place.word) * pitch + place.row + (y * L::side + kx) * pitch];
        });
      };
      blocks::unrolled<2 * columns>([&](int at) { load(at % columns, at / columns); });
      blocks::unrolled<rows / 2>([&](int pair) {
        const int y = 2 * pair;
        blocks::unrolled<2 * columns>([&](int at) { load(at % columns, y + 2 + at / columns); });
        blocks::Gathered<Unit, Operand::a> outputs;
        outputs.gather([&](int i) {
          const blocks::mma::Place place = Unit::word_of(lane, i);
          const int row = y + place.word / 4, x = step * 4 + place.word % 4;
          float values[together];
          for (int of = 0; of < together; ++of)
            values[of] = x < L::live_side ? gradient_at(d + (of * L::outputs + place.row) * d_pitch, row, x) : 0;
          return Unit::word(values);
        });
        blocks::unrolled<units>([&](int t) {
          blocks::Gathered<Unit, Operand::b> in;
          in.gather([&](int i) {
            return inputs[t % columns][y + t / columns + lower(i)].of[Unit::template lane_row<Operand::b>(i)][quad(i)];
          });
          Unit::mma_sync(sums.of[t], outputs.fragment, in.fragment);
        });
      });
    }
  }
  LEAGUE_FUNCTION static float gradient_at(const std::uint32_t* d, int row, int x) {
    const std::uint32_t word = d[row / L::step * L::window_side + x / L::step];
    const auto place = static_cast<std::uint32_t>(row % L::step * 2 + x % L::step);
    return (word & Decision::place_bits) == place ? blocks::mma::float_of(word) : 0;
  }
  /// Adds the sums of one split of a job to those before; the last one stores them.
  LEAGUE_FUNCTION static void add(int turn, int job, int share, int lane, Sums& sums, float* scratch, float* out) {
    const bool last = alone || turn + 1 == splits;
    blocks::unrolled<units>([&](int t) {
      typename Unit::Sum values[Unit::sums];
      Unit::values(sums.of[t], values);
      blocks::each<Unit, Unit::sums>([&](int e) {
        float* staged = scratch + ((t * Unit::sums + e) * output_jobs + job) * Unit::lanes + lane;
        const float sum = turn > 0 ? values[e] + *staged : values[e];
        const int o = job * edge + Unit::row(lane, e), column = Unit::column(lane, e);
        const int tap = L::first ? t * 3 + column / 4 : t, c = L::first ? column % 4 : share * edge + column;
        if (!last)
          *staged = sum;
        else if (!L::first || (column / 4 < 3 && c < L::inputs))
          out[(o * taps + tap) * L::inputs + c] = sum;
      });
    });
  }
  template <class Barrier>
  LEAGUE_FUNCTION static void add_biases(const blocks::Group<Barrier>& group, int share, const float (&biases)[own],
                                         float* scratch, float* out) {
    const int lane = group.rank % Unit::lanes, subgroup = group.rank / Unit::lanes;
    if (alone) {
      for (int o = 0; share == 0 && o < own; ++o) out[o] = biases[o];
      return;
    }
    group.barrier();
    blocks::unrolled<own>([&](int at) { scratch[(at * subgroups + subgroup) * bias_pitch + lane] = biases[at]; });
    group.barrier();
    if (share != 0 || group.rank >= L::outputs) return;
    float sum = 0;
    for (int at = 0; at < Unit::lanes; ++at) sum += scratch[group.rank * bias_pitch + at];
    out[group.rank] = sum;
  }
};

}  // namespace league::cnn
