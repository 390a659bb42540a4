// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/direct.hpp"

/// `direct` on GPUs, backward.
namespace league::cnn {

/// The small sums over images: the last layer's gradient, the first dense layer's biases', the loss. A thread one.
struct SmallSums {
  static constexpr int threads = 256, all = parameters + 1 - fc1_biases, scratch_bytes = 0;

  LEAGUE_FUNCTION static void add(const State& s, const Take& take, int at) {
    if (at >= all) return;
    const int i = fc1_biases + at;
    float sum = 0;
    for (int image = 0; image < take.count; ++image)
      if (i < fc2_weights)
        sum += s.d_h[image * hidden + at];
      else if (i < fc2_biases)
        sum +=
            s.d_logits[image * classes + (i - fc2_weights) / hidden] * s.h[image * hidden + (i - fc2_weights) % hidden];
      else
        sum += i < parameters ? s.d_logits[image * classes + i - fc2_biases] : s.losses[image];
    s.gradient[i] = i == parameters ? sum * take.share : sum;
  }
};

/// The first dense layer's weights: 128 neurons x 64 inputs, over all images.
struct DenseGradient {
  using Tile = ProductTile<hidden, 64>;
  static constexpr int threads = Tile::threads, scratch_bytes = Tile::scratch_bytes, items = pooled / 64;

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& /*memory*/,
                                  const Take& take, int item, float* scratch) {
    const int k0 = item * 64;
    Tile::template run<false, false>(
        group, take.count, [&](int row, int i) { return s.d_h[i * hidden + row]; },
        [&](int i, int column) { return s.p[std::int64_t{i} * pooled + k0 + column]; },
        [&](int row, int column, float sum) { s.gradient[fc1_weights + row * pooled + k0 + column] = sum; }, scratch);
  }
};

/// What goes back through the dropout and the ReLU behind the pool: 64 images x 64 inputs.
struct DenseInput {
  using Tile = ProductTile<64, 64>;
  static constexpr int threads = Tile::threads, scratch_bytes = Tile::scratch_bytes, blocks_of_inputs = pooled / 64;

  LEAGUE_FUNCTION static int items(int images) { return (images + 63) / 64 * blocks_of_inputs; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& /*memory*/,
                                  const Take& take, int item, float* scratch) {
    const int first = item / blocks_of_inputs * 64, k0 = item % blocks_of_inputs * 64;
    const Dropout dropout = s.dropout_of(take);
    const auto scale = dropout.pooled_scale<float>();
    Tile::template run<true, false>(
        group, hidden, [&](int row, int j) { return first + row < take.count ? s.d_h[(first + row) * hidden + j] : 0; },
        [&](int j, int column) { return s.weights[fc1_weights + j * pooled + k0 + column]; },
        [&](int row, int column, float sum) {
          const int i = first + row, k = k0 + column;
          if (i >= take.count) return;
          const std::int64_t at = std::int64_t{i} * pooled + k;
          const bool through = Decision::live(s.pool_decisions[at]) &&
                               Dropout::keeps_pooled(dropout.word(take.step, take.position(i), k / 32), k);
          s.d_p[at] = through ? scale * sum : 0;
        },
        scratch);
  }
};

/// The gradient behind the second convolution at (y, x) of channel o: what its window got, where it was chosen.
LEAGUE_FUNCTION float gradient_at(const State& s, int i, int o, int y, int x) {
  const std::int64_t at = std::int64_t{i} * pooled + o * windows + y / 2 * pooled_side + x / 2;
  return Decision::place(s.pool_decisions[at]) == y % 2 * 2 + x % 2 ? s.d_p[at] : 0;
}

/// The second convolution's weights, over this team's images: a lane an input channel, a warp 8 output channels, 72
/// sums. Two rows of positions at a time.
struct Conv2Gradient {
  static constexpr int threads = 256, outputs = channels2 / (threads / channels1), rows = 2, rows1 = rows + 2;
  static constexpr int a1_size = rows1 * side1 * channels1, d_size = rows * side2 * channels2;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (pixels + a1_size + d_size);
  static_assert(outputs == 8 && scratch_bytes <= 40'000);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    float *x = scratch, *a1 = x + pixels, *d = a1 + a1_size;
    const int c = group.rank % channels1, first = group.rank / channels1 * outputs;
    float sums[outputs][taps] = {}, biases[outputs] = {};
    for (int i = team; i < take.count; i += teams) {
      group.barrier();
      const std::uint8_t* image = take.image(i);
      for (int at = group.rank; at < pixels; at += threads) x[at] = pixel<float>(image[at]);
      for (int y0 = 0; y0 < side2; y0 += rows) {
        group.barrier();
        for (int at = group.rank; at < a1_size; at += threads) {  // of this lane's channel
          const int position = at / channels1;
          const float* from = x + (y0 + position / side1) * side + position % side1;
          float sum = s.weights[conv1_biases + c];
          for (int t = 0; t < taps; ++t) sum += s.weights[conv1_weights + c * taps + t] * from[t / 3 * side + t % 3];
          a1[at] = sum > 0 ? sum : 0;
        }
        for (int at = group.rank; at < d_size; at += threads) {
          const int o = at / (rows * side2), position = at % (rows * side2);
          d[position * channels2 + o] = gradient_at(s, i, o, y0 + position / side2, position % side2);
        }
        group.barrier();
        for (int y = 0; y < rows; ++y)
          for (int px = 0; px < side2; ++px) {
            float patch[taps];
            for (int t = 0; t < taps; ++t) patch[t] = a1[((y + t / 3) * side1 + px + t % 3) * channels1 + c];
            for (int k = 0; k < outputs; ++k) {
              const float value = d[(y * side2 + px) * channels2 + first + k];
              biases[k] += value;
              for (int t = 0; t < taps; ++t) sums[k][t] += value * patch[t];
            }
          }
      }
    }
    float* out = memory.partials2 + std::int64_t{team} * conv2_size;
    for (int k = 0; k < outputs; ++k) {
      for (int t = 0; t < taps; ++t) out[((first + k) * channels1 + c) * taps + t] = sums[k][t];
      if (c == 0) out[channels2 * channels1 * taps + first + k] = biases[k];
    }
  }
};

/// Through the second convolution into the first one's weights, over this team's images: a lane a channel, a warp two
/// rows of positions, 52 sums. Eight output channels at a time, with two zeros around.
struct Conv1Gradient {
  static constexpr int rows = 2, warps = side1 / rows, threads = warps * channels1, outputs = 8;
  static constexpr int wide = side2 + 4, d_size = outputs * wide * wide, w_size = outputs * taps * channels1;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (pixels + d_size + w_size);
  static constexpr int own = taps + 1;  ///< sums of a channel
  static_assert(scratch_bytes <= 40'000 && warps * channels1 * own <= d_size);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& memory,
                                  const Take& take, int team, int teams, float* scratch) {
    float *x = scratch, *d = x + pixels, *w = d + d_size;
    const int c = group.rank % channels1, warp = group.rank / channels1, top = warp * rows;
    float total[own] = {};
    for (int i = team; i < take.count; i += teams) {
      group.barrier();
      const std::uint8_t* image = take.image(i);
      for (int at = group.rank; at < pixels; at += threads) x[at] = pixel<float>(image[at]);
      float sums[rows][side1] = {};
      for (int o0 = 0; o0 < channels2; o0 += outputs) {
        group.barrier();
        for (int at = group.rank; at < d_size; at += threads) {
          const int y = at / wide % wide - 2, px = at % wide - 2;
          const bool inside = y >= 0 && y < side2 && px >= 0 && px < side2;
          d[at] = inside ? gradient_at(s, i, o0 + at / (wide * wide), y, px) : 0;
        }
        for (int at = group.rank; at < w_size; at += threads) {  // [out][tap][in]
          const int o = o0 + at / (taps * channels1), t = at / channels1 % taps;
          w[at] = s.weights[conv2_weights + (o * channels1 + at % channels1) * taps + t];
        }
        group.barrier();
        for (int o = 0; o < outputs; ++o) {
          float kernel[taps];
          for (int t = 0; t < taps; ++t) kernel[t] = w[(o * taps + t) * channels1 + c];
          blocks::unrolled<rows + 2>([&](int y) {  // of d, from the row that the third row of the kernel takes
            const float* row = d + (o * wide + top + y) * wide;
            blocks::unrolled<wide>([&](int px) {
              const float value = row[px];
              blocks::unrolled<rows * 3>([&](int n) {
                const int r = n / 3, kx = n % 3, ky = r + 2 - y, at = px - 2 + kx;
                if (ky >= 0 && ky < 3 && at >= 0 && at < side1) sums[r][at] += kernel[ky * 3 + kx] * value;
              });
            });
          });
        }
      }
      blocks::unrolled<rows * side1>([&](int n) {
        const int r = n / side1, px = n % side1;
        const float* from = x + (top + r) * side + px;
        float z = s.weights[conv1_biases + c];
        for (int t = 0; t < taps; ++t) z += s.weights[conv1_weights + c * taps + t] * from[t / 3 * side + t % 3];
        const float value = z > 0 ? sums[r][px] : 0;
        for (int t = 0; t < taps; ++t) total[t] += value * from[t / 3 * side + t % 3];
        total[taps] += value;
      });
    }
    group.barrier();
    for (int t = 0; t < own; ++t) d[(warp * own + t) * channels1 + c] = total[t];
    group.barrier();
    for (int at = group.rank; at < channels1 * own; at += threads) {
      float sum = 0;
      for (int other = 0; other < warps; ++other) sum += d[other * own * channels1 + at];
      const int t = at / channels1, channel = at % channels1;
      memory.partials1[std::int64_t{team} * conv1_size + (t < taps ? channel * taps + t : channels1 * taps + channel)] =
          sum;
    }
  }
};

/// The convolutions' gradients from the teams' sums, one by one.
LEAGUE_FUNCTION void add_partials(const State& s, const DirectMemory& memory, int teams, int i) {
  const bool first = i < conv1_size;
  const float* from = first ? memory.partials1 + i : memory.partials2 + i - conv1_size;
  float sum = 0;
  for (int team = 0; team < teams; ++team) sum += from[std::int64_t{team} * (first ? conv1_size : conv2_size)];
  s.gradient[i] = sum;
}

}  // namespace league::cnn
