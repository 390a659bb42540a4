// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// After oneDNN's reference primitives (ref_convolution and others): a loop per value, written anew.
#pragma once

#include "algorithms/cnn/common/kokkos.hpp"

/// The layers of the network `mnist`, forward and backward, a kernel each.
namespace league::cnn::kokkos_model {

inline constexpr int plane1 = side1 * side1, planes1 = channels1 * plane1;  ///< of the first convolution's output

/// Beside the state.
struct FlatMemory {
  Vector<float> a1, d_a1;   ///< [images][channels1][side1][side1]: the first convolution's output, and its gradient
  Vector<float> gradients;  ///< [images][fc1_weights]: of the convolutions' parameters
  blocks::StepSize<float>* size;
};

/// A kernel that computes `each` values of an image: its number `at` is image * each + value.
struct Layer {
  State s;
  FlatMemory m;
  Take given;  ///< what says whether it trains: then the state says which images

  [[nodiscard]] KOKKOS_FUNCTION Take take() const { return given.trains ? s.now() : given; }
};

/// The first convolution and its ReLU.
struct Convolve1 : Layer {
  static constexpr std::int64_t each = planes1;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at / each), c = static_cast<int>(at % each) / plane1;
    const int y = static_cast<int>(at % plane1) / side1, x = static_cast<int>(at % side1);
    if (i >= images.count) return;
    const std::uint8_t* image = images.image(i) + y * side + x;
    float sum = s.weights[conv1_biases + c];
    for (int t = 0; t < taps; ++t)
      sum += s.weights[conv1_weights + c * taps + t] * pixel<float>(image[t / 3 * side + t % 3]);
    m.a1(at) = sum > 0 ? sum : 0;
  }
};

/// The second convolution, its ReLU, the pool and dropout: a window.
struct Convolve2 : Layer {
  static constexpr std::int64_t each = pooled;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at / each), value_at = static_cast<int>(at % each), o = value_at / windows;
    if (i >= images.count) return;
    const int y = 2 * (value_at % windows / pooled_side), x = 2 * (value_at % pooled_side);
    float value = 0;
    int best = 0;
    for (int place = 0; place < 4; ++place) {
      const float* from = &m.a1(i * std::int64_t{planes1} + (y + place / 2) * side1 + x + place % 2);
      float sum = s.weights[conv2_biases + o];
      for (int c = 0; c < channels1; ++c)
        for (int t = 0; t < taps; ++t)
          sum += s.weights[conv2_weights + (o * channels1 + c) * taps + t] * from[c * plane1 + t / 3 * side1 + t % 3];
      if (place == 0 || sum > value) value = sum, best = place;
    }
    const Dropout dropout = s.dropout_of(images);
    const std::uint64_t word = dropout.word(images.step, images.position(i), value_at / 32);
    s.p[at] = value > 0 && Dropout::keeps_pooled(word, value_at) ? value * dropout.pooled_scale<float>() : 0;
    if (images.trains) s.pool_decisions[at] = Decision::of(best, value > 0);
  }
};

/// The first dense layer, its ReLU and dropout: a neuron.
struct Dense1 : Layer {
  static constexpr std::int64_t each = hidden;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at / each), j = static_cast<int>(at % each);
    if (i >= images.count) return;
    float value = s.weights[fc1_biases + j];
    for (int k = 0; k < pooled; ++k)
      value += s.weights[fc1_weights + j * pooled + k] * s.p[i * std::int64_t{pooled} + k];
    const Dropout dropout = s.dropout_of(images);
    const std::uint64_t word = dropout.word(images.step, images.position(i), Dropout::pooled_words + j / 64);
    s.h[at] = value > 0 && Dropout::keeps_hidden(word, j) ? value * dropout.hidden_scale<float>() : 0;
    if (images.trains) s.hidden_decisions[at] = value > 0 ? 1 : 0;
  }
};

/// The last layer of an image: its class, or its loss and the gradient of its logits.
struct Classify : Layer {
  static constexpr std::int64_t each = 1;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at);
    if (i >= images.count) return;
    Head head;
    for (int c = 0; c < classes; ++c) {
      head.logits[c] = s.weights[fc2_biases + c];
      for (int j = 0; j < hidden; ++j) head.logits[c] += s.weights[fc2_weights + c * hidden + j] * s.h[i * hidden + j];
    }
    if (!images.trains) {
      s.predictions[images.first - s.test_first + i] = head.best();
      return;
    }
    const int label = images.labels[images.number(i)];
    s.losses[i] = head.loss(label);
    for (int c = 0; c < classes; ++c) s.d_logits[i * classes + c] = head.gradient(c, label, images.share);
  }
};

/// Back to a hidden neuron.
struct BackToHidden : Layer {
  static constexpr std::int64_t each = hidden;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at / each), j = static_cast<int>(at % each);
    if (i >= images.count) return;
    float sum = 0;
    for (int c = 0; c < classes; ++c) sum += s.d_logits[i * classes + c] * s.weights[fc2_weights + c * hidden + j];
    s.d_h[at] = s.h[at] > 0 ? sum * s.dropout_of(images).hidden_scale<float>() : 0;
  }
};

/// Back to a value behind the pool.
struct BackToPool : Layer {
  static constexpr std::int64_t each = pooled;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at / each), k = static_cast<int>(at % each);
    if (i >= images.count) return;
    float sum = 0;
    for (int j = 0; j < hidden; ++j) sum += s.d_h[i * hidden + j] * s.weights[fc1_weights + j * pooled + k];
    s.d_p[at] = s.p[at] > 0 ? sum * s.dropout_of(images).pooled_scale<float>() : 0;
  }
};

/// The gradient of a parameter of the dense layers, and the loss: sums over the images.
struct DenseGradients : Layer {
  static constexpr std::int64_t all = parameters + 1 - fc1_weights;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int parameter = fc1_weights + static_cast<int>(at);
    float sum = 0;
    for (std::int64_t i = 0; i < images.count; ++i) sum += term(i, parameter);
    s.gradient[parameter] = parameter == parameters ? sum * images.share : sum;
  }
  [[nodiscard]] KOKKOS_FUNCTION float term(std::int64_t i, int parameter) const {
    if (parameter < fc1_biases) {
      const int at = parameter - fc1_weights;
      return s.d_h[i * hidden + at / pooled] * s.p[i * pooled + at % pooled];
    }
    if (parameter < fc2_weights) return s.d_h[i * hidden + parameter - fc1_biases];
    if (parameter < fc2_biases) {
      const int at = parameter - fc2_weights;
      return s.d_logits[i * classes + at / hidden] * s.h[i * hidden + at % hidden];
    }
    return parameter < parameters ? s.d_logits[i * classes + parameter - fc2_biases] : s.losses[i];
  }
};

/// Back through the pool and the second convolution to a value of the first one.
struct BackToConvolution1 : Layer {
  static constexpr std::int64_t each = planes1;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const int i = static_cast<int>(at / each), c = static_cast<int>(at % each) / plane1;
    const int y = static_cast<int>(at % plane1) / side1, x = static_cast<int>(at % side1);
    if (i >= take().count) return;
    float sum = 0;
    for (int t = 0; t < taps; ++t) {
      const int y2 = y - t / 3, x2 = x - t % 3;
      if (y2 < 0 || y2 >= side2 || x2 < 0 || x2 >= side2) continue;
      const std::int64_t window = i * std::int64_t{pooled} + y2 / 2 * pooled_side + x2 / 2;
      for (int o = 0; o < channels2; ++o)
        if (Decision::place(s.pool_decisions[window + o * windows]) == y2 % 2 * 2 + x2 % 2)
          sum += s.weights[conv2_weights + (o * channels1 + c) * taps + t] * s.d_p[window + o * windows];
    }
    m.d_a1(at) = m.a1(at) > 0 ? sum : 0;
  }
};

/// An image's part of the gradient of a parameter of the second convolution.
struct Convolution2Gradients : Layer {
  static constexpr std::int64_t each = fc1_weights - conv2_weights;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const int i = static_cast<int>(at / each), parameter = static_cast<int>(at % each) + conv2_weights;
    if (i >= take().count) return;
    const bool is_bias = parameter >= conv2_biases;
    const int weight = is_bias ? (parameter - conv2_biases) * channels1 * taps : parameter - conv2_weights;
    const int o = weight / taps / channels1, c = weight / taps % channels1, t = weight % taps;
    const float* a1 = &m.a1(i * std::int64_t{planes1} + c * plane1 + t / 3 * side1 + t % 3);
    float sum = 0;
    for (int window = 0; window < windows; ++window) {
      const std::int64_t from = i * std::int64_t{pooled} + o * windows + window;
      const int place = Decision::place(s.pool_decisions[from]);
      const int y = 2 * (window / pooled_side) + place / 2, x = 2 * (window % pooled_side) + place % 2;
      sum += s.d_p[from] * (is_bias ? 1 : a1[y * side1 + x]);
    }
    m.gradients(i * std::int64_t{fc1_weights} + parameter) = sum;
  }
};

/// The same of the first convolution.
struct Convolution1Gradients : Layer {
  static constexpr std::int64_t each = conv2_weights;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const Take images = take();
    const int i = static_cast<int>(at / each), parameter = static_cast<int>(at % each);
    if (i >= images.count) return;
    const bool is_bias = parameter >= conv1_biases;
    const int c = is_bias ? parameter - conv1_biases : parameter / taps, t = is_bias ? 0 : parameter % taps;
    const std::uint8_t* image = images.image(i) + t / 3 * side + t % 3;
    const float* d = &m.d_a1(i * std::int64_t{planes1} + c * plane1);
    float sum = 0;
    for (int n = 0; n < plane1; ++n) sum += d[n] * (is_bias ? 1 : pixel<float>(image[n / side1 * side + n % side1]));
    m.gradients(i * std::int64_t{fc1_weights} + parameter) = sum;
  }
};

/// Their sums over the images, and the size of the step.
struct AddImages : Layer {
  static constexpr std::int64_t all = fc1_weights;
  KOKKOS_FUNCTION void operator()(std::int64_t at) const {
    const int count = take().count;
    float sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += m.gradients(i * all + at);
    s.gradient[at] = sum;
    if (at == 0) *m.size = s.step_size();
  }
};

/// Whether a test image is classified right.
struct IsRight {
  State s;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& right) const {
    right += s.predictions[i] == s.test_labels[s.test_first + i] ? 1 : 0;
  }
};

}  // namespace league::cnn::kokkos_model
