// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/cnn/host_vector.hpp"
#include "algorithms/cnn/state.hpp"

/// One thread of a host, forward: an image at a time. Planes are [y][x][channel] (channels last): vectors run along the
/// channels of a layer's output.
namespace league::cnn {

/// A thread's scratch for one image, and its sums of the convolutions' gradients.
struct alignas(64) HostScratch {
  static constexpr int wide = side2 + 4;  ///< of a gradient zero-padded by two
  static constexpr int positions1 = side1 * side1;
  float x[pixels];
  float a1[positions1 * channels1];
  float d_a1[positions1 * channels1];
  float d_z2[wide * wide * channels2];
  float w1[taps * channels1];              ///< [tap][channel]
  float w2[taps * channels1 * channels2];  ///< packed for the pass: see `pack_forward`, `pack_backward`
  float largest[windows * channels2];      ///< [window][channel], before ReLU
  int decisions[windows * channels2];
  float gradient1[taps * channels1], bias_gradient1[channels1];              ///< [tap][channel]
  float gradient2[channels2 * taps * channels1], bias_gradient2[channels2];  ///< [out][tap][in]
};

inline constexpr int half1 = side1 / 2, half2 = side2 / 2;  ///< positions per tile: half a row

/// The second convolution's weights as [block of outputs][tap][input][output of the block].
inline void pack_forward(const float* weights, HostScratch& mine) {
  for (int t = 0; t < taps; ++t)
    for (int c = 0; c < channels1; ++c) {
      mine.w1[t * channels1 + c] = weights[conv1_weights + c * taps + t];
      for (int o = 0; o < channels2; ++o)
        mine.w2[((o / block * taps + t) * channels1 + c) * block + o % block] =
            weights[conv2_weights + (o * channels1 + c) * taps + t];
    }
}

inline void convolve_first(const State& state, const std::uint8_t* image, HostScratch& mine) {
  for (int i = 0; i < pixels; ++i) mine.x[i] = pixel<float>(image[i]);
  for (int y = 0; y < side1; ++y)
    for (int x = 0; x < side1; x += half1)
      for (int c = 0; c < channels1; c += block) {
        Lanes sums[half1][vectors];
        start(sums, state.weights + conv1_biases + c);
        for (int dy = 0; dy < 3; ++dy)
          multiply_add(sums, mine.x + (y + dy) * side + x, {1, 1}, mine.w1 + dy * 3 * channels1 + c, {0, channels1}, 3);
        store(mine.a1 + (y * side1 + x) * channels1 + c, channels1, sums);
      }
  for (float& value : mine.a1) value = std::max(value, 0.0F);
}

/// Computes two rows of the second convolution's output, `block` channels from `first` on.
[[gnu::always_inline]] inline void convolve_rows(const State& state, const HostScratch& mine, int first, int y,
                                                 float (&z)[2][side2 * block]) {
  for (int r = 0; r < 2; ++r)
    for (int x = 0; x < side2; x += half2) {
      Lanes sums[half2][vectors];
      start(sums, state.weights + conv2_biases + first);
      for (int t = 0; t < taps; ++t)
        multiply_add(sums, mine.a1 + ((y + r + t / 3) * side1 + x + t % 3) * channels1, {channels1, 1},
                     mine.w2 + (first * taps + t * block) * channels1, {0, block}, channels1);
      store(z[r] + x * block, block, sums);
    }
}

/// The maximum of a window, and its position.
struct Largest {
  Lanes value;
  Ints place;

  [[gnu::always_inline]] void take(Lanes other, int at) {
    const Ints later = other > value;
    value = chosen(later, other, value);
    place = (later & at) | (~later & place);
  }
  [[nodiscard]] Ints decision() const { return place | ((value > 0.0F) & Decision::live_bit); }
};

[[gnu::always_inline]] inline void convolve_second(const State& state, HostScratch& mine) {
  for (int first = 0; first < channels2; first += block)
    for (int py = 0; py < pooled_side; ++py) {
      float z[2][side2 * block];
      convolve_rows(state, mine, first, 2 * py, z);
      for (int px = 0; px < pooled_side; ++px)
        for (int n = 0; n < block; n += lanes) {
          const int left = 2 * px * block + n, right = left + block;
          Largest found{load(z[0] + left), {}};
          found.take(load(z[0] + right), 1);
          found.take(load(z[1] + left), 2);
          found.take(load(z[1] + right), 3);
          const int at = (py * pooled_side + px) * channels2 + first + n;
          store(mine.largest + at, found.value);
          store(mine.decisions + at, found.decision());
        }
    }
}

/// ReLU and dropout after the pool, for one image.
inline void drop_pooled(const State& state, const Take& take, int i) {
  const Dropout dropout = state.dropout_of(take);
  const auto scale = dropout.pooled_scale<float>();
  for (int n = 0; n < Dropout::pooled_words; ++n) {
    const std::uint64_t word = dropout.word(take.step, take.position(i), n);
    float* p = state.p + std::int64_t{i} * pooled + n * 32;
    for (int k = 0; k < 32; ++k) p[k] = Dropout::keeps_pooled(word, k) ? std::max(p[k], 0.0F) * scale : 0.0F;
  }
}

/// Transposes [window][channel] to [channel][window], some windows of all channels at a time.
template <class From, class To>
void transpose(const From* from, To* to) {
  constexpr int together = 16;
  static_assert(windows % together == 0);
  for (int first = 0; first < windows; first += together)
    for (int o = 0; o < channels2; ++o)
      for (int k = first; k < first + together; ++k) to[o * windows + k] = static_cast<To>(from[k * channels2 + o]);
}

inline void convolve_image(const State& state, const Take& take, int i, HostScratch& mine) {
  convolve_first(state, take.image(i), mine);
  convolve_second(state, mine);
  const std::int64_t at = std::int64_t{i} * pooled;
  transpose(mine.largest, state.p + at);
  if (take.trains) transpose(mine.decisions, state.pool_decisions + at);
  drop_pooled(state, take, i);
}

/// Applies bias, ReLU and dropout of the first dense layer, then the last layer. `factors`: derivatives of the hidden
/// values.
template <class Net>
Head head_of(const StateOf<Net>& state, const TakeOf<Net>& take, int i, float (&factors)[Net::hidden]) {
  const float* w = state.weights;
  float* h = state.h + i * Net::hidden;
  const Dropout dropout = state.dropout_of(take);
  for (int j = 0; j < Net::hidden; ++j) {
    const float z = h[j] + w[Net::fc1_biases + j];
    const std::uint64_t word = dropout.word(take.step, take.position(i), Dropout::pooled_words + j / 64);
    factors[j] = z > 0 && Dropout::keeps_hidden(word, j) ? dropout.hidden_scale<float>() : 0;
    h[j] = factors[j] * z;
    if (take.trains) state.hidden_decisions[i * Net::hidden + j] = z > 0 ? 1 : 0;
  }
  Head head{};
  for (int c = 0; c < classes; ++c) {
    Lanes sums{};
    for (int j = 0; j < Net::hidden; j += lanes) sums += load(w + Net::fc2_weights + c * Net::hidden + j) * load(h + j);
    head.logits[c] = sum_of(sums) + w[Net::fc2_biases + c];
  }
  return head;
}

}  // namespace league::cnn
