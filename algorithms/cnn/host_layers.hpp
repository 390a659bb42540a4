// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <iterator>

#include "algorithms/cnn/host_forward.hpp"

/// One thread of a host, a convolution of any shape. Planes are [y][x][channel] (channels last), so that the three taps
/// of a row of the kernel and their channels are contiguous: one sum has three parts of 3 x channels products.
namespace league::cnn {

/// Weights as the passes read them, gradients, and scratch of one image.
template <class L>
struct alignas(64) HostLayer {
  static constexpr int inputs = L::inputs, outputs = L::outputs, row = 3 * inputs;
  static constexpr int padded = L::live_side + 4, back_side = L::live_side + 2;
  /// Positions of a tile of sums, forward and backward.
  static constexpr int tile = L::live_side % 12 == 0 ? 12 : L::live_side % 10 == 0 ? 10 : L::live_side;
  static constexpr int back_tile = back_side % 7 == 0 ? 7 : back_side;
  /// The gradient's vectors of a row of taps, and those of a tile.
  static constexpr int row_vectors = (row + lanes - 1) / lanes, wide = row_vectors % 3 == 0 ? 3 : row_vectors;
  static constexpr int pitch = row_vectors * lanes, high = lanes / 2;
  static constexpr int back_outputs = L::first ? 0 : outputs, back_block = L::first ? 1 : block;
  static_assert(L::live_side % tile == 0 && outputs % block == 0 && outputs % high == 0);
  static_assert(inputs % back_block == 0 && back_side % back_tile == 0);

  float weights[outputs * 3 * row];               ///< [block of outputs][ky][kx][input][output of the block]
  float back[3 * 3 * back_outputs * inputs + 1];  ///< [block of inputs][ky][2 - kx][output][input of the block]
  float gradient[3 * outputs * pitch], bias_gradient[outputs];  ///< [ky][output][kx][input]
  int decisions[L::values];                                     ///< [window][output]
  float d_z[padded * padded * outputs];                         ///< gradient before ReLU and pool, zero-padded by two
  float d_a[L::plane * inputs];  ///< of the inputs; 0 where no window of the pool takes part

  void pack_forward(const float* from) {
    for (int at = 0; at < outputs * inputs * taps; ++at) {
      const int o = at / taps / inputs, c = at / taps % inputs, t = at % taps;
      weights[((o / block * 3 + t / 3) * row + t % 3 * inputs + c) * block + o % block] = from[L::weights + at];
    }
  }
  void pack_backward(const float* from) {
    if constexpr (!L::first)
      for (int at = 0; at < outputs * inputs * taps; ++at) {
        const int o = at / taps / inputs, c = at / taps % inputs, t = at % taps;
        back[((c / block * 3 + t / 3) * 3 * outputs + (2 - t % 3) * outputs + o) * block + c % block] =
            from[L::weights + at];
      }
    std::fill(std::begin(gradient), std::end(gradient), 0.0F);
    std::fill(std::begin(bias_gradient), std::end(bias_gradient), 0.0F);
    std::fill(std::begin(d_a), std::end(d_a), 0.0F);
  }

  /// Convolution, pool and ReLU, from planes `a` to planes `to`.
  void convolve(const float* a, const float* biases, float* to) {
    for (int first = 0; first < outputs; first += block)
      for (int y = 0; y < L::window_side; ++y) {
        float z[L::step][L::live_side * block];
        for (int r = 0; r < L::step; ++r)
          for (int x = 0; x < L::live_side; x += tile) {
            Lanes sums[tile][vectors];
            start(sums, biases + first);
            for (int ky = 0; ky < 3; ++ky)
              multiply_add(sums, a + ((y * L::step + r + ky) * L::side + x) * inputs, {inputs, 1},
                           weights + (first / block * 3 + ky) * row * block, {0, block}, row);
            store(z[r] + x * block, block, sums);
          }
        for (int x = 0; x < L::window_side; ++x)
          for (int n = 0; n < block; n += lanes) choose(z, x, n, (y * L::window_side + x) * outputs + first + n, to);
      }
  }
  /// Gradients of image planes `a` from the gradient of the windows, `d(window, output)`.
  template <class Gradient>
  void differentiate(const float* a, const std::uint8_t* decided, const Gradient& d) {
    std::fill(std::begin(d_z), std::end(d_z), 0.0F);
    for (int o = 0; o < outputs; ++o)
      for (int window = 0; window < L::windows; ++window) {
        const std::uint8_t decision = decided[o * L::windows + window];
        if (!Decision::live(decision)) continue;
        const int place = Decision::place(decision), y = window / L::window_side * L::step + place / 2,
                  x = window % L::window_side * L::step + place % 2;
        const float value = d(window, o);
        d_z[((y + 2) * padded + x + 2) * outputs + o] = value;
        bias_gradient[o] += value;
      }
    for (int ky = 0; ky < 3; ++ky)
      for (int o = 0; o < outputs; o += high)
        for (int k = 0; k < pitch; k += wide * lanes) add_weights(a, ky, o, k);
    if constexpr (!L::first) differentiate_inputs();
  }

 private:
  /// Maximum and decision of a window, for a vector of outputs.
  [[gnu::always_inline]] void choose(const float (&z)[L::step][L::live_side * block], int x, int n, int at, float* to) {
    Largest found{load(z[0] + x * L::step * block + n), {}};
    for (int place = 1; place < L::step * L::step; ++place)
      found.take(load(z[place / 2] + (x * L::step + place % 2) * block + n), place);
    store(decisions + at, found.decision());
    store(to + at, chosen(found.value > 0.0F, found.value, Lanes{}));
  }
  [[gnu::always_inline]] void add_weights(const float* a, int ky, int o, int k) {
    Lanes sums[high][wide] = {};
    for (int y = 0; y < L::live_side; ++y)
      multiply_add(sums, d_z + ((y + 2) * padded + 2) * outputs + o, {1, outputs}, a + (y + ky) * L::side * inputs + k,
                   {0, inputs}, L::live_side);
    for (int n = 0; n < high; ++n)
      for (int v = 0; v < wide; ++v) {
        float* sum = gradient + (ky * outputs + o + n) * pitch + k + v * lanes;
        store(sum, load(sum) + sums[n][v]);
      }
  }
  void differentiate_inputs() {
    for (int y = 0; y < back_side; ++y)
      for (int x = 0; x < back_side; x += back_tile)
        for (int c = 0; c < inputs; c += block) {
          Lanes sums[back_tile][vectors] = {};
          for (int ky = 0; ky < 3; ++ky)
            multiply_add(sums, d_z + ((y + 2 - ky) * padded + x) * outputs, {outputs, 1},
                         back + (c / block * 3 + ky) * 3 * outputs * block, {0, block}, 3 * outputs);
          store(d_a + (y * L::side + x) * inputs + c, inputs, sums);
        }
  }
};

}  // namespace league::cnn
