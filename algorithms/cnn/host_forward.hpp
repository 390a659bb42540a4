// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "algorithms/cnn/state.hpp"

/// `direct` on one thread of a host, forward: an image at a time, in vectors of eight values.
namespace league::cnn {

typedef float Lanes __attribute__((vector_size(32)));
inline constexpr int lanes = 8, row_lanes = side2 / lanes;
static_assert(row_lanes * lanes == side2);

inline Lanes load(const float* from) {
  Lanes values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}
inline void store(float* to, Lanes values) { __builtin_memcpy(to, &values, sizeof values); }
inline float sum_of(Lanes values) {
  float sums[lanes];
  store(sums, values);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// What a thread needs for an image, and its sums of the convolutions' gradients.
struct HostScratch {
  static constexpr int plane = side1 * side1 + lanes;            ///< reads go beyond a row
  static constexpr int wide = side2 + 4, pitch = 4 * lanes + 2;  ///< of a gradient with two zeros around it
  float x[pixels + lanes];
  float a1[channels1][plane];
  float d_z2[channels2][wide * pitch + lanes];
  float d_z1[side1 * 4 * lanes];  ///< of one channel, in rows of 32
  float gradient[fc1_weights];    ///< of both convolutions, as they lie among the parameters
};

inline void convolve_first(const State& state, const std::uint8_t* image, HostScratch& mine) {
  for (int i = 0; i < pixels; ++i) mine.x[i] = pixel<float>(image[i]);
  for (int c = 0; c < channels1; ++c) {
    const float* w = state.weights + conv1_weights + c * taps;
    for (int y = 0; y < side1; ++y) {
      float sums[4 * lanes];
      std::fill_n(sums, 4 * lanes, state.weights[conv1_biases + c]);
      for (int t = 0; t < taps; ++t)
        for (int x = 0; x < side1; ++x) sums[x] += w[t] * mine.x[(y + t / 3) * side + x + t % 3];
      for (int x = 0; x < side1; ++x) mine.a1[c][y * side1 + x] = std::max(sums[x], 0.0F);
    }
  }
}

/// Two rows of two channels after the second convolution: twelve vectors of sums.
inline void convolve_rows(const float* weights, const HostScratch& mine, int o, int y, float (&z)[2][2][side2]) {
  Lanes sums[2][2][row_lanes];
  for (int n = 0; n < 2; ++n)
    for (int r = 0; r < 2; ++r)
      for (int v = 0; v < row_lanes; ++v) sums[n][r][v] = weights[conv2_biases + o + n] - Lanes{};
  const float* w = weights + conv2_weights + o * channels1 * taps;
  for (int c = 0; c < channels1; ++c, w += taps)
    for (int t = 0; t < taps; ++t) {
      const float* row = mine.a1[c] + (y + t / 3) * side1 + t % 3;
      for (int r = 0; r < 2; ++r)
        for (int v = 0; v < row_lanes; ++v) {
          const Lanes values = load(row + r * side1 + v * lanes);
          sums[0][r][v] += w[t] * values;
          sums[1][r][v] += w[channels1 * taps + t] * values;
        }
    }
  for (int n = 0; n < 2; ++n)
    for (int r = 0; r < 2; ++r)
      for (int v = 0; v < row_lanes; ++v) store(&z[n][r][v * lanes], sums[n][r][v]);
}

inline void convolve_image(const State& state, const Take& take, int i, HostScratch& mine) {
  convolve_first(state, take.image(i), mine);
  const Dropout dropout = state.dropout_of(take);
  const auto scale = dropout.pooled_scale<float>();
  std::array<std::uint64_t, Dropout::pooled_words> words;
  for (int n = 0; n < Dropout::pooled_words; ++n)
    words[static_cast<std::size_t>(n)] = dropout.word(take.step, take.position(i), n);
  for (int o = 0; o < channels2; o += 2)
    for (int py = 0; py < pooled_side; ++py) {
      float z[2][2][side2];
      convolve_rows(state.weights, mine, o, 2 * py, z);
      for (int n = 0; n < 2; ++n)
        for (int px = 0; px < pooled_side; ++px) {
          int place = 0;
          float best = z[n][0][2 * px];
          for (int other = 1; other < 4; ++other)
            if (const float value = z[n][other / 2][2 * px + other % 2]; value > best) best = value, place = other;
          const int k = (o + n) * windows + py * pooled_side + px;
          const std::int64_t at = std::int64_t{i} * pooled + k;
          const bool kept = Dropout::keeps_pooled(words[static_cast<std::size_t>(k / 32)], k);
          state.p[at] = best > 0 && kept ? best * scale : 0;
          if (take.trains) state.pool_decisions[at] = Decision::of(place, best > 0);
        }
    }
}

/// With the bias, ReLU and dropout of the first dense layer. `factors`: what a hidden value's gradient is multiplied
/// by.
inline Head head_of(const State& state, const Take& take, int i, float (&factors)[hidden]) {
  const float* w = state.weights;
  float* h = state.h + i * hidden;
  const Dropout dropout = state.dropout_of(take);
  for (int j = 0; j < hidden; ++j) {
    const float z = h[j] + w[fc1_biases + j];
    const std::uint64_t word = dropout.word(take.step, take.position(i), Dropout::pooled_words + j / 64);
    factors[j] = z > 0 && Dropout::keeps_hidden(word, j) ? dropout.hidden_scale<float>() : 0;
    h[j] = factors[j] * z;
    if (take.trains) state.hidden_decisions[i * hidden + j] = z > 0 ? 1 : 0;
  }
  Head head{};
  for (int c = 0; c < classes; ++c) {
    Lanes sums{};
    for (int j = 0; j < hidden; j += lanes) sums += load(w + fc2_weights + c * hidden + j) * load(h + j);
    head.logits[c] = sum_of(sums) + w[fc2_biases + c];
  }
  return head;
}

}  // namespace league::cnn
