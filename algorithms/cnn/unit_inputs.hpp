// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/gathered.hpp"
#include "algorithms/cnn/partials.hpp"

namespace league::cnn {

/// The second convolution's weights backward as operand B: pieces [step][blocks of 16 inputs]. A step has `Unit::depth`
/// output channels of one tap; steps are [channels][tap].
template <class Unit>
struct BackFilters {
  static constexpr int units = channels1 / blocks::mma::side, step_words = units * blocks::mma::piece_words;
  LEAGUE_FUNCTION static int step(int group, int tap) { return group * taps + tap; }
  /// The offset of a weight, in values.
  LEAGUE_FUNCTION static int at(int o, int c, int tap) {
    return blocks::mma::value_of_b<Unit>(step(o / Unit::depth, tap) * units + c / blocks::mma::side, c, o);
  }
};

/// Gradient of the first convolution's weights: that of its output by a matrix unit, over all positions, then in f32.
/// A team takes bands of images, 7 rows of positions each; a subgroup 48 positions and all channels.
template <class Unit_>
struct UnitInputs {
  using Unit = Unit_;
  using Word = typename Unit::Word;
  using Value = typename Unit::Value;
  using Traits = blocks::mma::Traits<Unit::element>;
  static constexpr bool alone = Unit::lanes == 1;
  static constexpr int edge = blocks::mma::side, across = channels1 / edge, down = 3, jobs = 4;
  static constexpr int bands = 4, rows = 7, positions = rows * side1;
  static_assert(bands * rows >= side1 && jobs * down * edge >= positions);
  static constexpr int subgroups = alone ? 1 : jobs, threads = subgroups * Unit::lanes, min_teams = 3;
  // Scratch: pixels; gradients of the second convolution's output [y][x][words of channels], padded by the kernel; in
  // place of them the results [position][channel].
  static constexpr int rows0 = rows + 2, x_size = rows0 * side, wide = side2 + 4, rows2 = rows + 2;
  static constexpr int words = 32, passes = channels2 / (words * Unit::per_word), pitch = words + 4;
  static constexpr int d_words = rows2 * wide * pitch, own = taps + 1;
  static constexpr int result_at = alone ? x_size + d_words : x_size, result_words = positions * pitch;
  static constexpr int scratch_bytes =
      static_cast<int>(sizeof(float)) * (x_size + d_words + (alone ? result_words : 0));
  static_assert(result_words <= d_words && (alone || scratch_bytes <= 40'000) && x_size % 4 == 0 && d_words % 4 == 0);

  LEAGUE_FUNCTION static int items(int images) { return bands * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    const int rank = group.rank, lane = rank % Unit::lanes;
    float *x = scratch, *result = scratch + result_at;
    auto* d = reinterpret_cast<Word*>(scratch + x_size);
    float* out = memory.partials + std::int64_t{team} * fc1_weights;
    float sums1[alone ? channels1 : 1][own] = {};
    for (int item = team; item < items(take.count); item += teams) {
      const int i = item / bands, top = item % bands * rows;
      group.barrier();
      for (int at = rank; at < x_size; at += threads)
        x[at] = top * side + at < pixels ? pixel<float>(take.image(i)[top * side + at]) : 0;
      for (int first_job = 0; first_job < jobs; first_job += subgroups) {
        const int job = first_job + rank / Unit::lanes;
        Sums sums;
        for (int pass = 0; pass < passes; ++pass) {
          group.barrier();
          stage(group, s, std::int64_t{i} * pooled, top, pass * (channels2 / passes), d);
          group.barrier();
          multiply(reinterpret_cast<const Word*>(memory.backward2), pass, d, job, lane, sums);
        }
        group.barrier();
        store(sums, job, lane, result);
      }
      group.barrier();
      for (int task = rank; task < rows * channels1; task += threads)
        add_row(s, top, task / channels1, task % channels1, x, result, sums1[alone ? task % channels1 : 0]);
    }
    add_threads(group, sums1, scratch, out);
  }

 private:
  static_assert(alone || threads % channels1 == 0);
  struct Sums {
    typename Unit::fragment_c of[down][across];
  };

  /// Stages the gradients of some channels: zeros, and each window's at its maximum.
  template <class Barrier>
  LEAGUE_FUNCTION static void stage(const blocks::Group<Barrier>& group, const State& s, std::int64_t first, int top,
                                    int first_channel, Word* d) {
    for (int at = group.rank; at < d_words / 4; at += threads) reinterpret_cast<Four*>(d)[at] = {};
    group.barrier();
    constexpr int fours = ((rows2 + 1) / 2 + 1) * pooled_side / 4, tasks = fours * (channels2 / passes), together = 3;
    const int first_window = (top > 2 ? top - 2 : 0) / 2 * pooled_side;
    for (int number = group.rank; number < tasks; number += together * threads) {
      Four values[together];
      std::uint32_t decisions[together];
      blocks::unrolled<together>([&](int n) {  // loads of four neighbouring windows, together
        const int task = number + n * threads, window = first_window + task % fours * 4;
        const std::int64_t from = first + (first_channel + task / fours) * windows + window;
        const bool inside = task < tasks && window < windows;
        values[n] = inside ? *reinterpret_cast<const Four*>(s.d_p + from) : Four{};
        decisions[n] = inside ? *reinterpret_cast<const std::uint32_t*>(s.pool_decisions + from) : 0;
      });
      blocks::unrolled<4 * together>([&](int k) {
        const int n = k / 4, task = number + n * threads, window = first_window + task % fours * 4 + k % 4;
        const float value = values[n].values[k % 4];
        const int place = static_cast<int>(decisions[n] >> 8 * (k % 4) & Decision::place_bits);
        const int y = window / pooled_side * 2 + place / 2 - top + 2, column = window % pooled_side * 2 + place % 2 + 2;
        if (value != 0 && y >= 0 && y < rows2)
          reinterpret_cast<Value*>(d + (y * wide + column) * pitch)[task / fours] = Traits::narrow(value);
      });
    }
  }
  LEAGUE_FUNCTION static void multiply(const Word* filters, int pass, const Word* d, int job, int lane, Sums& sums) {
    using blocks::mma::Operand;
    constexpr int groups = words / blocks::mma::words;
    for (int group = 0; group < groups; ++group) {
      const Word* weights = filters + BackFilters<Unit>::step(pass * groups + group, 0) * BackFilters<Unit>::step_words;
      blocks::unrolled<taps>([&](int t) {
        typename Unit::fragment_b b[across];
        for (int n = 0; n < across; ++n)
          Unit::load(b[n], weights + t * BackFilters<Unit>::step_words + n * blocks::mma::piece_words, lane);
        blocks::unrolled<down>([&](int m) {
          blocks::Gathered<Unit, Operand::a> a;
          a.gather([&](int i) {
            const blocks::mma::Place place = Unit::word_of(lane, i);
            return d[offset_of((job * down + m) * edge + place.row) + place.word + group * blocks::mma::words +
                     ((2 - t / 3) * wide + 2 - t % 3) * pitch];
          });
          for (int n = 0; n < across; ++n) Unit::mma_sync(sums.of[m][n], a.fragment, b[n]);
        });
      });
    }
  }
  /// The words of a position of a1 and tap (2, 2); beyond the last position, its.
  LEAGUE_FUNCTION static int offset_of(int position) {
    const int at = position < positions ? position : positions - 1;
    return (at / side1 * wide + at % side1) * pitch;
  }
  LEAGUE_FUNCTION static void store(const Sums& sums, int job, int lane, float* result) {
    blocks::unrolled<down * across>([&](int n) {
      typename Unit::Sum values[Unit::sums];
      Unit::values(sums.of[n / across][n % across], values);
      blocks::each<Unit, Unit::sums>([&](int i) {
        const int position = (job * down + n / across) * edge + Unit::row(lane, i);
        if (position < positions) result[position * pitch + n % across * edge + Unit::column(lane, i)] = values[i];
      });
    });
  }
  /// Adds a row of a channel, where the first convolution's output is above 0, to the gradients of its weights and
  /// bias.
  LEAGUE_FUNCTION static void add_row(const State& s, int top, int y, int c, const float* x, const float* result,
                                      float (&sums)[own]) {
    if (top + y >= side1) return;
    float kernel[taps];
    for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + c * taps + t];
    const float bias = s.weights[conv1_biases + c];
    for (int column = 0; column < side1; ++column) {
      float patch[taps], z = bias;
      blocks::unrolled<taps>([&](int t) {
        patch[t] = x[(y + t / 3) * side + column + t % 3];
        z += kernel[t] * patch[t];
      });
      const float d = z > 0 ? result[(y * side1 + column) * pitch + c] : 0;
      blocks::unrolled<taps>([&](int t) { sums[t] += d * patch[t]; });
      sums[taps] += d;
    }
  }
  /// Adds the sums of the threads with the same channel.
  template <class Barrier>
  LEAGUE_FUNCTION static void add_threads(const blocks::Group<Barrier>& group,
                                          const float (&sums)[alone ? channels1 : 1][own], float* scratch, float* out) {
    constexpr int parts = alone ? 1 : threads / channels1;
    group.barrier();
    for (int n = 0; n < (alone ? channels1 : 1); ++n)
      for (int t = 0; t < own; ++t) {
        const int c = alone ? n : group.rank % channels1, part = alone ? 0 : group.rank / channels1;
        scratch[(part * own + t) * channels1 + c] = sums[n][t];
      }
    group.barrier();
    for (int at = group.rank; at < channels1 * own; at += threads) {
      float sum = 0;
      for (int part = 0; part < parts; ++part) sum += scratch[part * own * channels1 + at];
      const int t = at / channels1, c = at % channels1;
      out[t < taps ? Partials::weights1 + c * taps + t : Partials::biases1 + c] = sum;
    }
  }
};

}  // namespace league::cnn
