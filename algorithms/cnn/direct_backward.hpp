// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/partials.hpp"

/// The convolutions on GPUs, backward over all positions: method `direct`.
namespace league::cnn {

/// Gradient of the second convolution's weights. A team takes halves of images, two rows of positions at a time; a lane
/// an input channel, a warp 8 output channels: 72 sums.
struct Conv2Gradient {
  static constexpr int threads = 256, min_teams = 2, outputs = channels2 / (threads / channels1);
  static constexpr int halves = 2, half_rows = side2 / halves, rows = 2, rows1 = rows + 2, rows0 = half_rows + 4;
  static constexpr int a1_size = rows1 * side1 * channels1, d_size = rows * side2 * channels2, x_size = rows0 * side;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (d_size + a1_size + x_size);
  static_assert(outputs == 8 && scratch_bytes <= 40'000 && threads / channels1 == 2 * rows1);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    float *d = scratch, *a1 = d + d_size, *x = a1 + a1_size;
    const int c = group.rank % channels1, warp = group.rank / channels1, first = warp * outputs;
    float sums[outputs][taps] = {}, bias = 0;
    for (int item = team; item < halves * take.count; item += teams) {
      const int i = item / halves, top = item % halves * half_rows;
      group.barrier();
      const std::uint8_t* image = take.image(i) + top * side;
      for (int at = group.rank; at < x_size; at += threads) x[at] = pixel<float>(image[at]);
      for (int y0 = 0; y0 < half_rows; y0 += rows) {
        group.barrier();
        stage_inputs(s, x + y0 * side, c, warp, a1);
        bias += stage_gradients(s, i, (top + y0) / 2, group.rank, d);
        group.barrier();
        for (int y = 0; y < rows; ++y) add_row(a1 + y * side1 * channels1 + c, d + y * side2 * channels2 + first, sums);
      }
    }
    float* out = memory.partials + std::int64_t{team} * fc1_weights;
    for (int k = 0; k < outputs; ++k)
      for (int t = 0; t < taps; ++t) out[Partials::weights2 + ((first + k) * taps + t) * channels1 + c] = sums[k][t];
    group.barrier();
    d[group.rank] = bias;
    group.barrier();
    if (group.rank >= channels2) return;
    float sum = 0;
    for (int n = 0; n < threads; n += channels2) sum += d[n + group.rank];
    out[Partials::biases2 + group.rank] = sum;
  }

 private:
  /// Recomputes four rows of the first convolution's output; a warp half a row.
  LEAGUE_FUNCTION static void stage_inputs(const State& s, const float* x, int c, int warp, float* a1) {
    constexpr int across = side1 / 2;
    const int row = warp / 2, column = warp % 2 * across;
    float kernel[taps];
    for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + c * taps + t];
    convolve_row<across>(
        kernel, s.weights[conv1_biases + c], x + row * side + column,
        [to = a1 + (row * side1 + column) * channels1 + c](int n, float value) { to[n * channels1] = value; });
  }
  /// Stages the gradients of one row of windows as two rows [position][channel]. @returns the sum of a thread's
  /// windows, all of one channel
  LEAGUE_FUNCTION static float stage_gradients(const State& s, int i, int row, int rank, float* d) {
    const int o = rank % channels2;
    const std::int64_t from = std::int64_t{i} * pooled + o * windows + row * pooled_side;
    float all = 0;
    for (int window = rank / channels2; window < pooled_side; window += threads / channels2) {
      const float value = s.d_p[from + window];
      const int place = Decision::place(s.pool_decisions[from + window]);
      for (int other = 0; other < 4; ++other)
        d[(other / 2 * side2 + 2 * window + other % 2) * channels2 + o] = other == place ? value : 0;
      all += value;
    }
    return all;
  }
  /// Adds a row of positions; the three columns of inputs of a position stay in registers.
  LEAGUE_FUNCTION static void add_row(const float* a1, const float* d, float (&sums)[outputs][taps]) {
    float columns[3][3];
    for (int n = 0; n < 2; ++n)
      for (int y = 0; y < 3; ++y) columns[n][y] = a1[(y * side1 + n) * channels1];
    for (int x0 = 0; x0 < side2; x0 += 3)
      blocks::unrolled<3>([&](int n) {
        const int x = x0 + n;
        for (int y = 0; y < 3; ++y) columns[(n + 2) % 3][y] = a1[(y * side1 + x + 2) * channels1];
        blocks::unrolled<outputs / 4>([&](int q) {
          const Four four = *reinterpret_cast<const Four*>(d + x * channels2 + 4 * q);
          blocks::unrolled<4 * taps>([&](int m) {
            const int k = m / taps, t = m % taps;
            sums[4 * q + k][t] += four.values[k] * columns[(n + t % 3) % 3][t / 3];
          });
        });
      });
  }
};

/// Gradient of the first convolution's weights, back through the second convolution. A team takes half of the output
/// channels of images, 8 at a time, zero-padded by two; a lane an input channel, a warp two rows of positions: 52 sums.
struct Conv1Gradient {
  static constexpr int rows = 2, warps = side1 / rows, threads = warps * channels1, min_teams = 1, outputs = 8;
  static constexpr int halves = 2, wide = side2 + 4, plane = wide * wide;
  static constexpr int d_size = outputs * plane, w_size = outputs * taps * channels1;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (d_size + w_size + pixels);
  static constexpr int own = taps + 1;  ///< sums per channel
  static_assert(scratch_bytes <= 40'000 && warps * channels1 * own <= d_size);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    float *d = scratch, *w = d + d_size, *x = w + w_size;
    const int c = group.rank % channels1, warp = group.rank / channels1, top = warp * rows;
    float total[own] = {};
    for (int at = group.rank; at < d_size; at += threads) d[at] = 0;  // the padding stays 0
    for (int item = team; item < halves * take.count; item += teams) {
      const int i = item / halves, o_begin = item % halves * (channels2 / halves);
      group.barrier();
      const std::uint8_t* image = take.image(i);
      for (int at = group.rank; at < pixels; at += threads) x[at] = pixel<float>(image[at]);
      float sums[rows][side1] = {};
      for (int o0 = o_begin; o0 < o_begin + channels2 / halves; o0 += outputs) {
        group.barrier();
        stage(s, memory, i, o0, group.rank, d, w);
        group.barrier();
        for (int o = 0; o < outputs; ++o) add_channel(d + o * plane + top * wide, w + o * taps * channels1 + c, sums);
      }
      add_weights(s, x + top * side, c, sums, total);
    }
    group.barrier();
    for (int t = 0; t < own; ++t) d[(warp * own + t) * channels1 + c] = total[t];
    group.barrier();
    for (int at = group.rank; at < channels1 * own; at += threads) {
      float sum = 0;
      for (int other = 0; other < warps; ++other) sum += d[other * own * channels1 + at];
      const int t = at / channels1, channel = at % channels1;
      memory.partials[std::int64_t{team} * fc1_weights +
                      (t < taps ? Partials::weights1 + channel * taps + t : Partials::biases1 + channel)] = sum;
    }
  }

 private:
  /// Stages the gradients of the windows of eight channels as [channel][y][x], and their weights.
  LEAGUE_FUNCTION static void stage(const State& s, const GpuMemory& memory, int i, int o0, int rank, float* d,
                                    float* w) {
    for (int at = rank; at < outputs * windows; at += threads) {
      const int o = at / windows, window = at % windows;
      const std::int64_t from = std::int64_t{i} * pooled + o0 * windows + at;
      const float value = s.d_p[from];
      const int place = Decision::place(s.pool_decisions[from]);
      float* to = d + o * plane + (window / pooled_side * 2 + 2) * wide + window % pooled_side * 2 + 2;
      for (int y = 0; y < 2; ++y)
        *reinterpret_cast<Pair*>(to + y * wide) = {{place == 2 * y ? value : 0, place == 2 * y + 1 ? value : 0}};
    }
    const auto* from = reinterpret_cast<const Four*>(memory.backward2 + o0 * taps * channels1);
    for (int at = rank; at < w_size / 4; at += threads) reinterpret_cast<Four*>(w)[at] = from[at];
  }
  /// Adds an output channel to two rows; `d`: starts at the row under the third row of the kernel.
  LEAGUE_FUNCTION static void add_channel(const float* d, const float* w, float (&sums)[rows][side1]) {
    float kernel[taps];
    for (int t = 0; t < taps; ++t) kernel[t] = w[t * channels1];
    blocks::unrolled<rows + 2>([&](int y) {
      blocks::unrolled<wide / 4>([&](int q) {
        const Four four = *reinterpret_cast<const Four*>(d + y * wide + 4 * q);
        blocks::unrolled<4 * rows * 3>([&](int n) {
          const int e = n / (rows * 3), r = n / 3 % rows, kx = n % 3, ky = r + 2 - y, at = 4 * q + e - 2 + kx;
          if (ky >= 0 && ky < 3 && at >= 0 && at < side1) sums[r][at] += kernel[ky * 3 + kx] * four.values[e];
        });
      });
    });
  }
  /// Back through the ReLU, whose input is recomputed, into the weights; `x`: four rows of pixels, column-major.
  LEAGUE_FUNCTION static void add_weights(const State& s, const float* x, int c, const float (&sums)[rows][side1],
                                          float (&total)[own]) {
    float kernel[taps], columns[3][rows + 2];
    for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + c * taps + t];
    const float bias = s.weights[conv1_biases + c];
    for (int n = 0; n < 2; ++n)
      for (int y = 0; y < rows + 2; ++y) columns[n][y] = x[y * side + n];
    blocks::unrolled<side1>([&](int px) {
      for (int y = 0; y < rows + 2; ++y) columns[(px + 2) % 3][y] = x[y * side + px + 2];
      for (int r = 0; r < rows; ++r) {
        float z = bias;
        for (int t = 0; t < taps; ++t) z += kernel[t] * columns[(px + t % 3) % 3][r + t / 3];
        const float value = z > 0 ? sums[r][px] : 0;
        for (int t = 0; t < taps; ++t) total[t] += value * columns[(px + t % 3) % 3][r + t / 3];
        total[taps] += value;
      }
    });
  }
};

}  // namespace league::cnn
