// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <iterator>

#include "algorithms/cnn/host_forward.hpp"

/// One host thread, backward. A gradient exists where the value after pool and dropout is above 0.
namespace league::cnn {

/// The second convolution's weights as [tap][output][input].
inline void pack_backward(const float* weights, HostScratch& mine) {
  for (int t = 0; t < taps; ++t)
    for (int c = 0; c < channels1; ++c) {
      mine.w1[t * channels1 + c] = weights[conv1_weights + c * taps + t];
      for (int o = 0; o < channels2; ++o)
        mine.w2[(t * channels2 + o) * channels1 + c] = weights[conv2_weights + (o * channels1 + c) * taps + t];
    }
}

/// A window with a gradient.
struct Live {
  int y, x;  ///< position of its maximum
  float d;   ///< the gradient of that value, before ReLU
};

/// Lists those of output channel `o` of image `i`. @returns their number
inline int live_windows(const State& state, int i, int o, Live (&live)[windows + 1]) {
  const std::int64_t at = std::int64_t{i} * pooled + o * windows;
  int count = 0;
  for (int y = 0; y < side2; y += 2)
    for (int x = 0; x < side2; x += 2) {
      const std::int64_t k = at + y / 2 * pooled_side + x / 2;
      const int place = Decision::place(state.pool_decisions[k]);
      live[count] = {y + place / 2, x + place % 2, state.d_p[k]};
      count += state.p[k] > 0 ? 1 : 0;  // branchless: a branch would be unpredictable
    }
  return count;
}

/// Gradient of the first convolution's weights, from the gradient of its output.
inline void differentiate_first(HostScratch& mine) {
  for (int k = 0; k < HostScratch::positions1 * channels1; ++k) mine.d_a1[k] = mine.a1[k] > 0 ? mine.d_a1[k] : 0.0F;
  for (int at = 0; at < HostScratch::positions1; ++at)
    for (int c = 0; c < channels1; ++c) mine.bias_gradient1[c] += mine.d_a1[at * channels1 + c];
  for (int dy = 0; dy < 3; ++dy)
    for (int c = 0; c < channels1; c += block) {
      Lanes sums[3][vectors] = {};
      for (int y = 0; y < side1; ++y)
        multiply_add(sums, mine.x + (y + dy) * side, {1, 1}, mine.d_a1 + y * side1 * channels1 + c, {0, channels1},
                     side1);
      float* to = mine.gradient1 + dy * 3 * channels1 + c;
      for (int dx = 0; dx < 3; ++dx)
        for (int v = 0; v < vectors; ++v) {
          float* sum = to + dx * channels1 + v * lanes;
          store(sum, load(sum) + sums[dx][v]);
        }
    }
}

/// `direct`: all positions, the gradient of the second convolution's output zero-padded by two.
struct HostDirect {
  static void run(const State& state, int i, HostScratch& mine) {
    std::fill(std::begin(mine.d_z2), std::end(mine.d_z2), 0.0F);
    for (int o = 0; o < channels2; ++o) {
      Live live[windows + 1];
      const int count = live_windows(state, i, o, live);
      for (int n = 0; n < count; ++n) {
        mine.d_z2[at(live[n].y + 2, live[n].x + 2) + o] = live[n].d;
        mine.bias_gradient2[o] += live[n].d;
      }
    }
    for (int o = 0; o < channels2; o += outputs)
      for (int c = 0; c < channels1; c += lanes)
        for (int dy = 0; dy < 3; ++dy) correlate(mine, o, c, dy);
    for (int y = 0; y < side1; ++y)
      for (int x = 0; x < side1; x += half1)
        for (int c = 0; c < channels1; c += block) {
          Lanes sums[half1][vectors] = {};
          for (int t = 0; t < taps; ++t)
            multiply_add(sums, mine.d_z2 + at(y + 2 - t / 3, x + 2 - t % 3), {channels2, 1},
                         mine.w2 + t * channels2 * channels1 + c, {0, channels1}, channels2);
          store(mine.d_a1 + (y * side1 + x) * channels1 + c, channels1, sums);
        }
  }

 private:
  static constexpr int outputs = lanes / 2;  ///< channels of a tile
  static constexpr int at(int y, int x) { return (y * HostScratch::wide + x) * channels2; }
  /// Gradient of the weights of some outputs and `lanes` inputs, three taps of a row: sums over all positions.
  static void correlate(HostScratch& mine, int o, int c, int dy) {
    Lanes sums[outputs][3] = {};
    for (int y = 0; y < side2; ++y)
      multiply_add(sums, mine.d_z2 + at(y + 2, 2) + o, {1, channels2}, mine.a1 + (y + dy) * side1 * channels1 + c,
                   {0, channels1, channels1}, side2);
    for (int n = 0; n < outputs; ++n)
      for (int dx = 0; dx < 3; ++dx) {
        float* sum = mine.gradient2 + ((o + n) * taps + dy * 3 + dx) * channels1 + c;
        store(sum, load(sum) + sums[n][dx]);
      }
  }
};

/// `routed`: only the windows with a gradient, the nine taps in registers.
struct HostRouted {
  static void run(const State& state, int i, HostScratch& mine) {
    std::fill(std::begin(mine.d_a1), std::end(mine.d_a1), 0.0F);
    for (int o = 0; o < channels2; ++o) {
      Live live[windows + 1];
      const int count = live_windows(state, i, o, live);
      for (int n = 0; n < count; ++n) mine.bias_gradient2[o] += live[n].d;
      for (int c = 0; c < channels1; c += block) {
        Lanes sums[taps][vectors], weights[taps][vectors];
        for (int t = 0; t < taps; ++t)
          for (int v = 0; v < vectors; ++v)
            sums[t][v] = load(mine.gradient2 + (o * taps + t) * channels1 + c + v * lanes);
        for (int n = 0; n < count; ++n)
          for (int t = 0; t < taps; ++t)
            for (int v = 0; v < vectors; ++v) sums[t][v] += live[n].d * load(mine.a1 + at(live[n], t) + c + v * lanes);
        store(mine.gradient2 + o * taps * channels1 + c, channels1, sums);
        for (int t = 0; t < taps; ++t)
          for (int v = 0; v < vectors; ++v)
            weights[t][v] = load(mine.w2 + (t * channels2 + o) * channels1 + c + v * lanes);
        for (int n = 0; n < count; ++n)
          for (int t = 0; t < taps; ++t)
            for (int v = 0; v < vectors; ++v) {
              float* d = mine.d_a1 + at(live[n], t) + c + v * lanes;
              store(d, load(d) + live[n].d * weights[t][v]);
            }
      }
    }
  }

 private:
  static int at(const Live& live, int tap) { return ((live.y + tap / 3) * side1 + live.x + tap % 3) * channels1; }
};

/// `Second`: the backward pass of the second convolution.
template <class Second>
void differentiate_image(const State& state, const Take& take, int i, HostScratch& mine) {
  convolve_first(state, take.image(i), mine);
  Second::run(state, i, mine);
  differentiate_first(mine);
}

}  // namespace league::cnn
