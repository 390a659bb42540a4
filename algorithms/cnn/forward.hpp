// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/state.hpp"

/// The convolutions on GPUs, forward: a team's work, the same in CUDA and Kokkos.
namespace league::cnn {

/// Partial sums and packed weights, on the device.
struct GpuMemory {
  float* forward2;   ///< the second convolution's weights as [in][tap][out], or as pieces of a matrix unit
  float* backward2;  ///< and as [out][tap][in], or as pieces
  float* products;   ///< [slices][images x hidden]: the first dense layer's sums
  float* partials;   ///< [teams][fc1_weights]: the convolutions' gradients; weights as [out][tap][in], then biases
  blocks::StepSize<float>* size;
  int slices;  ///< of the first dense layer's inputs
  int teams;   ///< with sums of the convolutions' gradients
};

/// Computes `count` values of a row of the first convolution's output: `put(n, value)`.
template <int count, class Put>
LEAGUE_FUNCTION void convolve_row(const float (&kernel)[taps], float bias, const float* x, const Put& put) {
  float sums[count];
  for (int n = 0; n < count; ++n) sums[n] = bias;
  blocks::unrolled<3>([&](int ky) {
    float row[count + 2];
    for (int n = 0; n < count + 2; ++n) row[n] = x[ky * side + n];
    for (int kx = 0; kx < 3; ++kx)
      for (int n = 0; n < count; ++n) sums[n] += kernel[ky * 3 + kx] * row[n + kx];
  });
  for (int n = 0; n < count; ++n) put(n, sums[n] > 0 ? sums[n] : 0);
}

/// Dropout, and the results of a team: part `part` of an image's windows, `values` [channel][pitch], `decisions`
/// [channel][part_windows]. Writes four neighbouring windows of a channel at a time.
template <int threads, int part_windows, int pitch>
LEAGUE_FUNCTION void write_pooled(const State& s, const Take& take, int i, int part, int rank, const float* values,
                                  const std::uint8_t* decisions) {
  static_assert(windows % part_windows == 0 && part_windows % 4 == 0);
  const Dropout dropout = s.dropout_of(take);
  const auto scale = dropout.pooled_scale<float>();
  for (int four = rank; four < channels2 * part_windows / 4; four += threads) {
    const int o = four / (part_windows / 4), from = four % (part_windows / 4) * 4;
    const int at = o * windows + part * part_windows + from;
    const std::uint64_t word = dropout.word(take.step, take.position(i), at / 32);
    Four out;
    for (int n = 0; n < 4; ++n) {
      const float value = values[o * pitch + from + n];
      out.values[n] = value > 0 && Dropout::keeps_pooled(word, at + n) ? value * scale : 0;
    }
    *reinterpret_cast<Four*>(s.p + std::int64_t{i} * pooled + at) = out;
    if (take.trains)
      *reinterpret_cast<std::uint32_t*>(s.pool_decisions + std::int64_t{i} * pooled + at) =
          reinterpret_cast<const std::uint32_t*>(decisions)[four];
  }
}

/// Convolutions, ReLU, pool and dropout. A team takes a quarter of an image, three rows of windows; a warp three
/// columns of windows; a lane two channels: 9 windows x 4 positions x 2 sums. Each row of the first convolution's
/// output is read once: each value is multiplied with the nine weights of two channels in registers.
struct Forward {
  static constexpr int threads = 128, min_teams = 4, parts = 4;
  static constexpr int own = 3;  ///< windows per thread, across and down
  static constexpr int rows = 2 * own, rows1 = rows + 2, rows0 = rows + 4, columns1 = 2 * own + 2;
  static constexpr int inputs = 8, part_windows = windows / parts;
  static constexpr int x_size = rows0 * side, a1_plane = rows1 * side1, a1_size = inputs * a1_plane;
  static constexpr int w_size = inputs * taps * channels2;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (w_size + a1_size + x_size);
  static constexpr int pitch = part_windows + 1;  ///< of results staged in scratch
  static_assert(channels2 * pitch <= w_size && channels2 * part_windows <= 4 * a1_size && scratch_bytes <= 40'000);
  static_assert(parts * own == pooled_side && threads == inputs * rows1 * 2);

  LEAGUE_FUNCTION static int items(int images) { return parts * images; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const GpuMemory& memory,
                                  const Take& take, int item, float* scratch) {
    const int i = item / parts, part = item % parts, rank = group.rank;
    if (i >= take.count) return;
    float *w = scratch, *a1 = w + w_size, *x = a1 + a1_size;
    group.barrier();  // the item before
    const std::uint8_t* image = take.image(i) + part * rows * side;
    for (int at = rank; at < x_size; at += threads) x[at] = pixel<float>(image[at]);
    const int first = rank % 32 * 2, column = rank / 32 * own;
    float sums[rows][2 * own][2];
    for (int k = 0; k < 2; ++k) {
      const float bias = s.weights[conv2_biases + first + k];
      for (int y = 0; y < rows; ++y)
        for (int z = 0; z < 2 * own; ++z) sums[y][z][k] = bias;
    }
    for (int c0 = 0; c0 < channels1; c0 += inputs) {
      group.barrier();
      stage(s, memory, c0, rank, x, a1, w);
      group.barrier();
      for (int c = 0; c < inputs; ++c)
        add_channel(w + c * taps * channels2 + first, a1 + c * a1_plane + 2 * column, sums);
    }
    group.barrier();
    auto* decisions = reinterpret_cast<std::uint8_t*>(a1);
    blocks::unrolled<own * own * 2>([&](int n) {
      const int k = n % 2, wx = n / 2 % own, wy = n / 2 / own;
      int best = 0;
      float value = sums[2 * wy][2 * wx][k];
      for (int place = 1; place < 4; ++place) {
        const float other = sums[2 * wy + place / 2][2 * wx + place % 2][k];
        if (other > value) value = other, best = place;
      }
      const int at = wy * pooled_side + column + wx;
      w[(first + k) * pitch + at] = value;
      decisions[(first + k) * part_windows + at] = Decision::of(best, value > 0);
    });
    group.barrier();
    write_pooled<threads, part_windows, pitch>(s, take, i, part, rank, w, decisions);
  }

 private:
  /// Stages eight channels of the first convolution's output, and their weights.
  LEAGUE_FUNCTION static void stage(const State& s, const GpuMemory& memory, int c0, int rank, const float* x,
                                    float* a1, float* w) {
    constexpr int across = side1 / 2;
    const int half = rank % 2, row = rank / 2 % rows1, c = rank / 2 / rows1;
    float kernel[taps];
    for (int t = 0; t < taps; ++t) kernel[t] = s.weights[conv1_weights + (c0 + c) * taps + t];
    convolve_row<across>(kernel, s.weights[conv1_biases + c0 + c], x + row * side + half * across,
                         [to = a1 + c * a1_plane + row * side1 + half * across](int n, float value) { to[n] = value; });
    const auto* from = reinterpret_cast<const Four*>(memory.forward2 + c0 * taps * channels2);
    blocks::unrolled<w_size / 4 / threads>(
        [&](int n) { reinterpret_cast<Four*>(w)[rank + n * threads] = from[rank + n * threads]; });
  }
  /// Adds one channel.
  LEAGUE_FUNCTION static void add_channel(const float* w, const float* a1, float (&sums)[rows][2 * own][2]) {
    Pair kernel[taps];
    blocks::unrolled<taps>([&](int t) { kernel[t] = *reinterpret_cast<const Pair*>(w + t * channels2); });
    blocks::unrolled<rows1>([&](int r) {
      float values[columns1];
      blocks::unrolled<columns1 / 2>([&](int n) {
        const Pair pair = *reinterpret_cast<const Pair*>(a1 + r * side1 + 2 * n);
        values[2 * n] = pair.values[0], values[2 * n + 1] = pair.values[1];
      });
      blocks::unrolled<taps * 2 * own>([&](int n) {
        const int t = n / (2 * own), z = n % (2 * own), y = r - t / 3;
        if (y < 0 || y >= rows) return;
        for (int k = 0; k < 2; ++k) sums[y][z][k] += kernel[t].values[k] * values[z + t % 3];
      });
    });
  }
};

}  // namespace league::cnn
