// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/contract/random.hpp"
#include "backends/portable.hpp"

/// The network `mnist`, for its kernels of every model; networks.hpp describes it and the others as data.
///   28 x 28 -> convolution 3x3 to 32 channels, ReLU -> convolution 3x3 to 64, ReLU -> max-pool 2x2 -> dropout 1/4
///   -> dense 128, ReLU -> dropout 1/2 -> dense 10 -> log-softmax; loss: the mean of -log p[label].
/// Source: the MNIST example of PyTorch.
namespace league::cnn {

inline constexpr int side = 28, pixels = side * side;
inline constexpr int taps = 9;                           ///< of a 3x3 kernel
inline constexpr int channels1 = 32, side1 = side - 2;   ///< after the first convolution
inline constexpr int channels2 = 64, side2 = side1 - 2;  ///< after the second
inline constexpr int pooled_side = side2 / 2, windows = pooled_side * pooled_side;
inline constexpr int pooled = channels2 * windows;  ///< [channel][y][x], 9,216 inputs of the first dense layer
inline constexpr int hidden = 128, classes = 10;

/// First parameter of each layer, in the order of PyTorch's `parameters()`; weights are [out][in][ky][kx].
inline constexpr int conv1_weights = 0, conv1_biases = conv1_weights + channels1 * taps;
inline constexpr int conv2_weights = conv1_biases + channels1;
inline constexpr int conv2_biases = conv2_weights + channels2 * channels1 * taps;
inline constexpr int fc1_weights = conv2_biases + channels2, fc1_biases = fc1_weights + hidden * pooled;
inline constexpr int fc2_weights = fc1_biases + hidden, fc2_biases = fc2_weights + classes * hidden;
inline constexpr int parameters = fc2_biases + classes;
static_assert(parameters == 1'199'882);
/// All eight offsets, and the end.
inline constexpr int tensors = 8;
inline constexpr int tensor_begin[tensors + 1] = {conv1_weights, conv1_biases, conv2_weights, conv2_biases, fc1_weights,
                                                  fc1_biases,    fc2_weights,  fc2_biases,    parameters};

/// The value of a pixel, normalised with the mean and standard deviation of MNIST.
template <class T>
LEAGUE_FUNCTION T pixel(std::uint8_t grey) {
  return (static_cast<T>(grey) / T{255} - static_cast<T>(0.1307)) / static_cast<T>(0.3081);
}

/// Decision of the network in a pool window: the position of the maximum (2 y + x within the window; the first of equal
/// ones), and whether it is above 0. A gradient goes to that position only, if it is above 0.
struct Decision {
  static constexpr std::uint8_t place_bits = 3, live_bit = 4;
  LEAGUE_FUNCTION static std::uint8_t of(int place, bool live) {
    return static_cast<std::uint8_t>(place | (live ? live_bit : 0));
  }
  LEAGUE_FUNCTION static int place(std::uint8_t decision) { return decision & place_bits; }
  LEAGUE_FUNCTION static bool live(std::uint8_t decision) { return (decision & live_bit) != 0; }
};

/// Counter-based dropout masks: two bits per value after the pool (0: dropped), one per hidden value. `position`: of
/// the image in the batch of all devices.
struct Dropout {
  static constexpr int pooled_words = pooled / 32, words = pooled_words + hidden / 64;
  std::uint64_t seed;
  bool on;

  LEAGUE_FUNCTION std::uint64_t word(std::int64_t step, std::int64_t position, int number) const {
    if (!on) return ~std::uint64_t{0};
    return random_bits(seed, static_cast<std::uint64_t>(first_stream + step),
                       static_cast<std::uint64_t>(position * words + number));
  }
  /// Mask of value `i` after the pool, from word `i / 32`.
  LEAGUE_FUNCTION static bool keeps_pooled(std::uint64_t word, int i) { return (word >> (2 * (i % 32)) & 3) != 0; }
  /// Mask of hidden value `i`, from word `pooled_words + i / 64`.
  LEAGUE_FUNCTION static bool keeps_hidden(std::uint64_t word, int i) { return (word >> (i % 64) & 1) != 0; }
  /// Scale of a kept value.
  template <class T>
  LEAGUE_FUNCTION T pooled_scale() const {
    return on ? T{4} / T{3} : T{1};
  }
  template <class T>
  LEAGUE_FUNCTION T hidden_scale() const {
    return on ? T{2} : T{1};
  }

 private:
  static constexpr std::int64_t first_stream = 16;  ///< the streams before are for the initial parameters
};

}  // namespace league::cnn
