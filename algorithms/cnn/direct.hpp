// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/product.hpp"
#include "algorithms/cnn/state.hpp"

/// `direct` on GPUs, forward: what the teams of each kernel do, in CUDA and Kokkos alike.
namespace league::cnn {

/// Partial sums and packed weights, on the device.
struct DirectMemory {
  float* packed2;    ///< the second convolution's weights as [in][tap][out]
  float* products;   ///< [slices][images x hidden]: the first dense layer's sums
  float* partials2;  ///< [teams][conv2_size]
  float* partials1;  ///< [teams][conv1_size]
};
inline constexpr int conv1_size = channels1 * taps + channels1, conv2_size = channels2 * channels1 * taps + channels2;
static_assert(conv1_size + conv2_size == fc1_weights);

/// As kernels read them: [in][tap][out].
LEAGUE_FUNCTION void pack_weight(const State& s, const DirectMemory& memory, int at) {
  const int o = at % channels2, t = at / channels2 % taps, c = at / channels2 / taps;
  memory.packed2[at] = s.weights[conv2_weights + (o * channels1 + c) * taps + t];
}

/// A thread takes a window of the pool and 16 channels: 4 x 16 sums.
struct Forward {
  static constexpr int rows = side2 / 2, rows1 = rows + 2, rows0 = rows + 4;  ///< of the second convolution's output
  static constexpr int own_windows = windows / 2, own_channels = 16, inputs = 8;
  static constexpr int threads = own_windows * channels2 / own_channels;
  static constexpr int x_size = rows0 * side, a1_size = inputs * rows1 * side1, w_size = inputs * taps * channels2;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (x_size + a1_size + w_size);
  static_assert(threads == 288 && scratch_bytes <= 40'000);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& memory,
                                  const Take& take, int item, float* scratch) {
    const int i = item / 2, half = item % 2, rank = group.rank;
    if (i >= take.count) return;
    float *x = scratch, *a1 = x + x_size, *w = a1 + a1_size;
    group.barrier();  // the item before
    const std::uint8_t* image = take.image(i) + half * rows * side;
    for (int at = rank; at < x_size; at += threads) x[at] = pixel<float>(image[at]);
    const int window = rank % own_windows, first = rank / own_windows * own_channels;
    const int wy = window / pooled_side, wx = window % pooled_side;
    float sums[4][own_channels];
    for (int k = 0; k < own_channels; ++k) {
      const float bias = s.weights[conv2_biases + first + k];
      for (int place = 0; place < 4; ++place) sums[place][k] = bias;
    }
    for (int c0 = 0; c0 < channels1; c0 += inputs) {
      group.barrier();
      for (int at = rank; at < a1_size; at += threads) {
        const int c = c0 + at / (rows1 * side1), position = at % (rows1 * side1);
        const float* kernel = s.weights + conv1_weights + c * taps;
        const float* from = x + position / side1 * side + position % side1;
        float sum = s.weights[conv1_biases + c];
        for (int t = 0; t < taps; ++t) sum += kernel[t] * from[t / 3 * side + t % 3];
        a1[at] = sum > 0 ? sum : 0;
      }
      for (int at = rank; at < w_size; at += threads) w[at] = memory.packed2[c0 * taps * channels2 + at];
      group.barrier();
      for (int c = 0; c < inputs; ++c) {
        const float* from = a1 + (c * rows1 + 2 * wy) * side1 + 2 * wx;
        float patch[4][4];
        for (int y = 0; y < 4; ++y)
          for (int z = 0; z < 4; ++z) patch[y][z] = from[y * side1 + z];
        blocks::unrolled<taps>([&](int t) {
          const float* weights = w + (c * taps + t) * channels2 + first;
          blocks::unrolled<own_channels>([&](int k) {
            const float weight = weights[k];
            blocks::unrolled<4>(
                [&](int place) { sums[place][k] += weight * patch[t / 3 + place / 2][t % 3 + place % 2]; });
          });
        });
      }
    }
    const Dropout dropout = s.dropout_of(take);
    const auto scale = dropout.pooled_scale<float>();
    for (int k = 0; k < own_channels; ++k) {
      int best = 0;
      float value = sums[0][k];
      for (int place = 1; place < 4; ++place)
        if (sums[place][k] > value) value = sums[place][k], best = place;
      const int at = (first + k) * windows + half * own_windows + window;
      const bool kept = Dropout::keeps_pooled(dropout.word(take.step, take.position(i), at / 32), at);
      s.p[std::int64_t{i} * pooled + at] = value > 0 && kept ? value * scale : 0;
      if (take.trains) s.pool_decisions[std::int64_t{i} * pooled + at] = Decision::of(best, value > 0);
    }
  }
};

/// The first dense layer, a slice of its inputs: 64 images x 128 neurons.
struct Dense {
  using Tile = ProductTile<64, hidden>;
  static constexpr int threads = Tile::threads, scratch_bytes = Tile::scratch_bytes;
  static constexpr int slice = 128, slices = pooled / slice;

  LEAGUE_FUNCTION static int items(int images) { return (images + 63) / 64 * slices; }
  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& memory,
                                  const Take& take, int item, float* scratch) {
    const int first = item / slices * 64, number = item % slices, k0 = number * slice;
    Tile::template run<true, true>(
        group, slice,
        [&](int row, int k) { return first + row < take.count ? s.p[std::int64_t{first + row} * pooled + k0 + k] : 0; },
        [&](int k, int column) { return s.weights[fc1_weights + column * pooled + k0 + k]; },
        [&](int row, int column, float sum) {
          if (first + row < take.count)
            memory.products[(std::int64_t{number} * take.count + first + row) * hidden + column] = sum;
        },
        scratch);
  }
};

/// An image's last layers and their gradients; a thread a neuron.
struct Judge {
  static constexpr int threads = hidden;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (hidden + classes);

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& memory,
                                  const Take& take, int i, float* scratch) {
    if (i >= take.count) return;
    float *h = scratch, *logits = scratch + hidden;
    const int j = group.rank;
    float z = s.weights[fc1_biases + j];
    for (int slice = 0; slice < Dense::slices; ++slice)
      z += memory.products[(std::int64_t{slice} * take.count + i) * hidden + j];
    const Dropout dropout = s.dropout_of(take);
    const std::uint64_t word = dropout.word(take.step, take.position(i), Dropout::pooled_words + j / 64);
    const float factor = z > 0 && Dropout::keeps_hidden(word, j) ? dropout.hidden_scale<float>() : 0;
    group.barrier();
    h[j] = factor * z;
    group.barrier();
    if (j < classes) {
      float sum = s.weights[fc2_biases + j];
      for (int k = 0; k < hidden; ++k) sum += s.weights[fc2_weights + j * hidden + k] * h[k];
      logits[j] = sum;
    }
    group.barrier();
    Head head;
    for (int c = 0; c < classes; ++c) head.logits[c] = logits[c];
    if (!take.trains) {
      if (j == 0) s.predictions[take.first - s.test_first + i] = head.best();
      return;
    }
    const int label = take.labels[take.number(i)];
    float sum = 0;
    for (int c = 0; c < classes; ++c) {
      const float d = head.gradient(c, label, take.share);
      sum += d * s.weights[fc2_weights + c * hidden + j];
      if (j == c) s.d_logits[i * classes + c] = d;
    }
    s.h[i * hidden + j] = h[j];
    s.d_h[i * hidden + j] = factor * sum;
    s.hidden_decisions[i * hidden + j] = z > 0 ? 1 : 0;
    if (j == 0) s.losses[i] = head.loss(label);
  }
};

/// Test images that are classified right.
struct CountRight {
  static constexpr int threads = 256, scratch_bytes = static_cast<int>(sizeof(float)) * threads;

  template <class Barrier>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, const State& s, const DirectMemory& /*memory*/,
                                  const Take& /*take*/, int /*team*/, int /*teams*/, float* scratch) {
    int right = 0;
    for (std::int64_t i = group.rank; i < s.test_count; i += threads)
      right += s.predictions[i] == s.test_labels[s.test_first + i] ? 1 : 0;
    int* counts = reinterpret_cast<int*>(scratch);
    counts[group.rank] = right;
    blocks::combine_in_scratch(group, counts, [](int a, int b) { return a + b; });
    if (group.rank == 0) *s.correct_here = counts[0];
  }
};

}  // namespace league::cnn
