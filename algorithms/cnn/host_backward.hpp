// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/cnn/host_forward.hpp"

/// `direct` on one thread of a host, backward.
namespace league::cnn {

/// The gradient behind the second convolution, at all positions, with two zeros around.
inline void unpool(const State& state, const Take& take, int i, HostScratch& mine) {
  constexpr int pitch = HostScratch::pitch;
  const Dropout dropout = state.dropout_of(take);
  const auto scale = dropout.pooled_scale<float>();
  std::fill_n(&mine.d_z2[0][0], sizeof mine.d_z2 / sizeof(float), 0.0F);
  std::uint64_t word = 0;
  for (int k = 0; k < pooled; ++k) {
    if (k % 32 == 0) word = dropout.word(take.step, take.position(i), k / 32);
    const std::int64_t at = std::int64_t{i} * pooled + k;
    const std::uint8_t decision = state.pool_decisions[at];
    if (!Decision::live(decision) || !Dropout::keeps_pooled(word, k)) continue;
    const int window = k % windows, place = Decision::place(decision);
    mine.d_z2[k / windows][(window / pooled_side * 2 + place / 2 + 2) * pitch + window % pooled_side * 2 + place % 2 +
                           2] = scale * state.d_p[at];
  }
}

/// The nine weights between two channels: sums over all positions.
inline void correlate(HostScratch& mine, int o, int c) {
  Lanes sums[taps] = {};
  for (int y = 0; y < side2; ++y)
    for (int v = 0; v < row_lanes; ++v) {
      const Lanes d = load(mine.d_z2[o] + (y + 2) * HostScratch::pitch + 2 + v * lanes);
      const float* row = mine.a1[c] + y * side1 + v * lanes;
      for (int t = 0; t < taps; ++t) sums[t] += d * load(row + t / 3 * side1 + t % 3);
    }
  for (int t = 0; t < taps; ++t) mine.gradient[conv2_weights + (o * channels1 + c) * taps + t] += sum_of(sums[t]);
}

/// What goes back through the second convolution and into the first one's weights, for two channels.
inline void differentiate_first(const State& state, HostScratch& mine, int first) {
  constexpr int pitch = HostScratch::pitch, wide = 4;
  for (int y = 0; y < side1; ++y) {
    Lanes sums[2][wide] = {};
    for (int o = 0; o < channels2; ++o) {
      const float* w = state.weights + conv2_weights + (o * channels1 + first) * taps;
      for (int t = 0; t < taps; ++t) {
        const float* row = mine.d_z2[o] + (y - t / 3 + 2) * pitch - t % 3 + 2;
        for (int v = 0; v < wide; ++v) {
          const Lanes d = load(row + v * lanes);
          sums[0][v] += w[t] * d;
          sums[1][v] += w[taps + t] * d;
        }
      }
    }
    for (int n = 0; n < 2; ++n) {
      const int c = first + n;
      float d[wide * lanes];
      for (int v = 0; v < wide; ++v) store(d + v * lanes, sums[n][v]);
      for (int x = 0; x < side1; ++x)
        if (mine.a1[c][y * side1 + x] <= 0) d[x] = 0;
      for (int t = 0; t < taps; ++t) {
        float sum = 0;
        for (int x = 0; x < side1; ++x) sum += d[x] * mine.x[(y + t / 3) * side + x + t % 3];
        mine.gradient[conv1_weights + c * taps + t] += sum;
      }
      float bias = 0;
      for (int x = 0; x < side1; ++x) bias += d[x];
      mine.gradient[conv1_biases + c] += bias;
    }
  }
}
inline void differentiate_image(const State& state, const Take& take, int i, HostScratch& mine) {
  convolve_first(state, take.image(i), mine);
  unpool(state, take, i, mine);
  for (int o = 0; o < channels2; ++o) {
    float bias = 0;
    for (int k = 0; k < HostScratch::wide * HostScratch::pitch; ++k) bias += mine.d_z2[o][k];
    mine.gradient[conv2_biases + o] += bias;
    for (int c = 0; c < channels1; ++c) correlate(mine, o, c);
  }
  for (int c = 0; c < channels1; c += 2) differentiate_first(state, mine, c);
}

}  // namespace league::cnn
