// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

#include "algorithms/cnn/network.hpp"

/// The networks as data: convolutions 3x3 without padding, each with a ReLU and perhaps a max-pool 2x2, then two dense
/// layers with a ReLU between, softmax; loss: the mean of -log p[label].
namespace league::cnn {

/// A convolution with ReLU and pool; the place of its parameters and decisions. Weights are [out][in][ky][kx].
struct Convolution {
  int inputs, outputs, side;  ///< channels; side of an input plane
  bool pools;                 ///< an odd last row and column of the output are dropped
  bool decides;               ///< its decisions are results of a variant
  int weights = 0, biases = 0, decisions = 0;

  [[nodiscard]] constexpr int plane() const { return side * side; }
  [[nodiscard]] constexpr int to_side() const { return side - 2; }
  [[nodiscard]] constexpr int positions() const { return to_side() * to_side(); }
  /// After the pool. Without one, a window is one position.
  [[nodiscard]] constexpr int window_side() const { return pools ? to_side() / 2 : to_side(); }
  [[nodiscard]] constexpr int windows() const { return window_side() * window_side(); }
  [[nodiscard]] constexpr int places() const { return pools ? 4 : 1; }  ///< positions of a window
  [[nodiscard]] constexpr int values() const { return outputs * windows(); }
  [[nodiscard]] constexpr int terms() const { return inputs * taps; }  ///< products of a sum
  /// Value `place` of a window, in the output's plane before the pool.
  [[nodiscard]] constexpr int position_of(int window, int place) const {
    const int step = pools ? 2 : 1;
    return (window / window_side() * step + place / 2) * to_side() + window % window_side() * step + place % 2;
  }
};

/// Tensors are in the order of PyTorch's `parameters()`: weights and biases of each layer.
struct Network {
  static constexpr int max_convolutions = 3;
  std::string_view name, about;
  int count;  ///< of convolutions
  Convolution convolutions[max_convolutions];
  int hidden;
  float mean, deviation;  ///< of pixels / 255
  bool drops;             ///< dropout after the last pool and of the hidden values
  bool glorot;            ///< initial weights uniform in +-sqrt(6 / (fan-in + fan-out)), biases 0; else see `Cnn`
  double adam_epsilon;

  [[nodiscard]] constexpr const Convolution& first() const { return convolutions[0]; }
  [[nodiscard]] constexpr const Convolution& last() const { return convolutions[count - 1]; }
  [[nodiscard]] constexpr int pixels() const { return first().inputs * first().plane(); }
  [[nodiscard]] constexpr int flat() const { return last().values(); }  ///< inputs of the first dense layer
  [[nodiscard]] constexpr int decisions() const { return last().decisions + last().values(); }  ///< of an image
  [[nodiscard]] constexpr int fc1_weights() const { return last().biases + last().outputs; }
  [[nodiscard]] constexpr int fc1_biases() const { return fc1_weights() + hidden * flat(); }
  [[nodiscard]] constexpr int fc2_weights() const { return fc1_biases() + hidden; }
  [[nodiscard]] constexpr int fc2_biases() const { return fc2_weights() + classes * hidden; }
  [[nodiscard]] constexpr int parameters() const { return fc2_biases() + classes; }
  [[nodiscard]] constexpr int tensors() const { return 2 * count + 4; }
  /// The first parameter of a tensor; of the number of tensors: the end.
  [[nodiscard]] constexpr int tensor_begin(int tensor) const {
    if (tensor < 2 * count) return tensor % 2 == 0 ? convolutions[tensor / 2].weights : convolutions[tensor / 2].biases;
    const int dense[] = {fc1_weights(), fc1_biases(), fc2_weights(), fc2_biases(), parameters()};
    return dense[tensor - 2 * count];
  }
  /// Inputs of one output of the tensor's layer, and the reverse.
  [[nodiscard]] constexpr int fan_in(int tensor) const {
    if (tensor < 2 * count) return convolutions[tensor / 2].terms();
    return tensor < 2 * count + 2 ? flat() : hidden;
  }
  [[nodiscard]] constexpr int fan_out(int tensor) const {
    if (tensor < 2 * count) return convolutions[tensor / 2].outputs * taps;
    return tensor < 2 * count + 2 ? hidden : classes;
  }
  /// Of one image.
  [[nodiscard]] constexpr std::int64_t forward_multiply_adds() const {
    std::int64_t all = std::int64_t{hidden} * flat() + classes * hidden;
    for (int n = 0; n < count; ++n)
      all += std::int64_t{convolutions[n].terms()} * convolutions[n].outputs * convolutions[n].positions();
    return all;
  }
  [[nodiscard]] float pixel(std::uint8_t grey) const { return (static_cast<float>(grey) / 255.0F - mean) / deviation; }
};

/// Fills in the places of parameters and decisions.
constexpr Network with_places(Network network) {
  int parameter = 0, decision = 0;
  for (int n = 0; n < network.count; ++n) {
    Convolution& of = network.convolutions[n];
    of.weights = parameter;
    of.biases = of.weights + of.outputs * of.terms();
    parameter = of.biases + of.outputs;
    of.decisions = decision;
    decision += of.decides ? of.values() : 0;
  }
  return network;
}

/// Source: the MNIST example of PyTorch.
inline constexpr Network mnist =
    with_places({.name = "mnist",
                 .about = "28 x 28",
                 .count = 2,
                 .convolutions = {{1, channels1, side, false, false}, {channels1, channels2, side1, true, true}},
                 .hidden = hidden,
                 .mean = 0.1307F,
                 .deviation = 0.3081F,
                 .drops = true,
                 .glorot = false,
                 .adam_epsilon = 1e-8});
static_assert(mnist.pixels() == pixels && mnist.flat() == pooled && mnist.decisions() == pooled);
static_assert(mnist.parameters() == parameters && mnist.forward_multiply_adds() == 11'992'448);

/// Source: the tutorial "Convolutional Neural Network (CNN)" of TensorFlow, with Keras.
inline constexpr Network cifar10 =
    with_places({.name = "cifar10",
                 .about = "3 planes of 32 x 32",
                 .count = 3,
                 .convolutions = {{3, 32, 32, true, true}, {32, 64, 15, true, true}, {64, 64, 6, false, true}},
                 .hidden = 64,
                 .mean = 0,
                 .deviation = 1,
                 .drops = false,
                 .glorot = true,
                 .adam_epsilon = 1e-7});
static_assert(cifar10.pixels() == 3072 && cifar10.flat() == 1024 && cifar10.parameters() == 122'570);
static_assert(cifar10.forward_multiply_adds() == 4'548'608);

/// The sizes of a network as constants, for kernels of several networks.
template <const Network* of>
struct Sizes {
  static constexpr const Network& network = *of;
  static constexpr int pixels = of->pixels(), flat = of->flat(), hidden = of->hidden, decisions = of->decisions();
  static constexpr int fc1_weights = of->fc1_weights(), fc1_biases = of->fc1_biases();
  static constexpr int fc2_weights = of->fc2_weights(), fc2_biases = of->fc2_biases();
  static constexpr int parameters = of->parameters();
  static constexpr float adam_epsilon = static_cast<float>(of->adam_epsilon);
  /// The input of a pixel.
  LEAGUE_FUNCTION static float pixel(std::uint8_t value) {
    constexpr float mean = of->mean, deviation = of->deviation;
    return (static_cast<float>(value) / 255.0F - mean) / deviation;
  }
};
/// The same of one of its convolutions.
template <class Net, int n>
struct Layer {
  static constexpr Convolution of = Net::network.convolutions[n];
  static constexpr int number = n;
  static constexpr bool pools = of.pools, first = n == 0, last = n + 1 == Net::network.count;
  static constexpr int inputs = of.inputs, outputs = of.outputs, side = of.side, plane = of.plane();
  static constexpr int to_side = of.to_side(), to_plane = of.positions();
  static constexpr int weights = of.weights, biases = of.biases, decisions = of.decisions;
  static constexpr int window_side = of.window_side(), windows = of.windows(), values = of.values();
  static constexpr int step = pools ? 2 : 1;            ///< side of a window
  static constexpr int live_side = window_side * step;  ///< of the output that the pool takes
};
using Mnist = Sizes<&mnist>;
using Cifar10 = Sizes<&cifar10>;

/// @pre one of the names above
inline const Network& network_of(std::string_view name) { return name == cifar10.name ? cifar10 : mnist; }

}  // namespace league::cnn
