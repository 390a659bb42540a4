// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/layers_memory.hpp"

/// The kernels between the library calls of a training step, one element per thread, in every model. A functor's
/// `operator()(i, at)` takes element `at` of `per_image` of image `i`. The number of images is a host argument of a
/// library call, fixed when a step is recorded. Library calls therefore always take a whole batch, and only these
/// functors handle fewer images: the pixels of missing images, and their gradients, are zeros.
namespace league::cnn::layers {

template <class N, class T = float>
struct Pixels {
  using First = Layer<N, 0>;
  static constexpr int per_image = N::pixels;
  PlanesOf<N, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    T* plane = m.x + m.layout.template at<First::inputs, First::plane>(i, at / First::plane);
    plane[at % First::plane] = i < m.take().count ? N::pixel(m.take().image(i)[at]) : 0.0F;
  }
};

/// Bias and ReLU of the first convolution.
template <class T>
struct BiasReLU {
  static constexpr int per_image = channels1 * side1 * side1;
  PlanesOf<Mnist, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    constexpr int plane = side1 * side1;
    const int c = at / plane;
    T& value = m.a[0][m.layout.template at<channels1, plane>(i, c) + at % plane];
    const float sum = value + m.s.weights[conv1_biases + c];
    value = sum > 0 ? sum : 0;
  }
};

/// Bias, max-pool, ReLU and dropout of the second convolution. One window.
template <class T>
struct Pool {
  static constexpr int per_image = pooled;
  PlanesOf<Mnist, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const Take& take = m.take();
    const int o = at / windows, window = at % windows;
    T* corner = m.z[1] + m.layout.template at<channels2, side2 * side2>(i, o) + corner_of(window);
    const auto above = pair_at(corner), below = pair_at(corner + side2);
    const float values[4] = {above.values[0], above.values[1], below.values[0], below.values[1]};
    int place = 0;
    float largest = values[0];
    for (int other = 1; other < 4; ++other)
      if (values[other] > largest) largest = values[other], place = other;
    const float value = largest + m.s.weights[conv2_biases + o];
    const Dropout dropout = m.s.dropout_of(take);
    const bool kept = Dropout::keeps_pooled(dropout.word(take.step, take.position(i), at / 32), at);
    const std::int64_t to = std::int64_t{i} * pooled + at;
    m.s.p[to] = value > 0 && kept ? value * dropout.pooled_scale<float>() : 0;
    if (take.trains) m.s.pool_decisions[to] = Decision::of(place, value > 0);
  }
};

/// Backward pass of `Pool`: overwrites the second convolution's output with its gradient.
template <class T>
struct Unpool {
  static constexpr int per_image = pooled;
  PlanesOf<Mnist, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const Take& take = m.take();
    const int o = at / windows, window = at % windows;
    const std::int64_t from = std::int64_t{i} * pooled + at;
    T values[4] = {0.0F, 0.0F, 0.0F, 0.0F};
    if (i < take.count) {
      const std::uint8_t decision = m.s.pool_decisions[from];
      const Dropout dropout = m.s.dropout_of(take);
      if (Decision::live(decision) && Dropout::keeps_pooled(dropout.word(take.step, take.position(i), at / 32), at))
        for (int place = 0; place < 4; ++place)
          values[place] = Decision::place(decision) == place ? dropout.pooled_scale<float>() * m.s.d_p[from] : 0;
    }
    T* corner = m.z[1] + m.layout.template at<channels2, side2 * side2>(i, o) + corner_of(window);
    pair_at(corner) = {{values[0], values[1]}};
    pair_at(corner + side2) = {{values[2], values[3]}};
  }
};

/// Partial sums (split-K), bias, ReLU and dropout of the first dense layer. One neuron.
template <class N>
struct Hidden {
  static constexpr int per_image = N::hidden;
  MemoryOf<N> m;
  int slices;  ///< of the products (split-K)
  LEAGUE_FUNCTION void operator()(int i, int j) const {
    const TakeOf<N>& take = m.take();
    const float* products = m.products + std::int64_t{i} * N::hidden + j;
    const std::int64_t slice_size = std::int64_t{m.layout.images} * N::hidden;
    const float z = blocks::sum_in_order<8>(slices, [&](int slice) { return products[slice * slice_size]; }) +
                    m.s.weights[N::fc1_biases + j];
    const Dropout dropout = m.s.dropout_of(take);
    const std::uint64_t word = dropout.word(take.step, take.position(i), Dropout::pooled_words + j / 64);
    const bool passes = z > 0 && Dropout::keeps_hidden(word, j);
    const std::int64_t to = std::int64_t{i} * N::hidden + j;
    m.s.h[to] = passes ? dropout.hidden_scale<float>() * z : 0;
    if (take.trains) m.s.hidden_decisions[to] = z > 0 ? 1 : 0;
  }
};

/// The last layer. One class.
template <class N>
struct Logits {
  static constexpr int per_image = classes;
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int i, int c) const {
    const float* h = m.s.h + std::int64_t{i} * N::hidden;
    const float* w = m.s.weights + N::fc2_weights + c * N::hidden;
    m.logits[std::int64_t{i} * classes + c] =
        blocks::sum_in_order<8>(N::hidden, [&](int j) { return w[j] * h[j]; }) + m.s.weights[N::fc2_biases + c];
  }
};

/// The loss, its gradients with respect to logits and hidden values, or the prediction of a test image. One neuron.
template <class N>
struct Loss {
  static constexpr int per_image = N::hidden;
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int i, int j) const {
    const TakeOf<N>& take = m.take();
    if (i >= take.count) {
      m.s.d_h[std::int64_t{i} * N::hidden + j] = 0;
      return;
    }
    Head head;
    for (int c = 0; c < classes; ++c) head.logits[c] = m.logits[std::int64_t{i} * classes + c];
    if (!take.trains) {
      if (j == 0) m.s.predictions[take.first - m.s.test_first + i] = head.best();
      return;
    }
    const int label = take.labels[take.number(i)];
    float sum = 0;
    for (int c = 0; c < classes; ++c) {
      const float d = head.gradient(c, label, take.share);
      sum += d * m.s.weights[N::fc2_weights + c * N::hidden + j];
      if (j == c) m.s.d_logits[std::int64_t{i} * classes + c] = d;
    }
    const std::int64_t at = std::int64_t{i} * N::hidden + j;
    m.s.d_h[at] = m.s.h[at] > 0 ? m.s.dropout_of(take).template hidden_scale<float>() * sum : 0;
    if (j == 0) m.s.losses[i] = head.loss(label);
  }
};

/// Back through the first convolution's ReLU.
template <class T>
struct MaskInput {
  static constexpr int per_image = channels1 * side1 * side1;
  PlanesOf<Mnist, T> m;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const std::int64_t k = std::int64_t{i} * per_image + at;
    if (!(m.a[0][k] > 0)) m.d_a[0][k] = 0.0F;
  }
};

/// Gradients of the last layer and of the first dense layer's biases, and the loss, over some images. One sum each, in
/// the order of the gradient.
template <class N>
struct SmallSums {
  static constexpr int all = N::parameters + 1 - N::fc1_biases, images = 64;
  MemoryOf<N> m;
  float* sums;  ///< [chunks of images][all]
  LEAGUE_FUNCTION void operator()(int at) const {
    const TakeOf<N>& take = m.take();
    const int k = N::fc1_biases + at % all, first = at / all * images;
    const int count = take.count - first < images ? take.count - first : images;
    const float sum = blocks::sum_in_order<8>(count, [&](int n) {
      const std::int64_t i = first + n;
      if (k < N::fc2_weights) return m.s.d_h[i * N::hidden + k - N::fc1_biases];
      if (k < N::fc2_biases)
        return m.s.d_logits[i * classes + (k - N::fc2_weights) / N::hidden] *
               m.s.h[i * N::hidden + (k - N::fc2_weights) % N::hidden];
      return k < N::parameters ? m.s.d_logits[i * classes + k - N::fc2_biases] : m.s.losses[i];
    });
    sums[at] = k == N::parameters ? sum * take.share : sum;
  }
};
/// Adds the sums of all chunks.
template <class N>
struct AddSmallSums {
  MemoryOf<N> m;
  const float* sums;
  int chunks;
  LEAGUE_FUNCTION void operator()(int at) const {
    m.s.gradient[N::fc1_biases + at] =
        blocks::sum_in_order<8>(chunks, [&](int chunk) { return sums[chunk * SmallSums<N>::all + at]; });
  }
};

// Once per step, or less often.

template <int values, class T = float>
struct Clear {
  static constexpr int per_image = values;
  T* to;
  LEAGUE_FUNCTION void operator()(int i, int at) const { to[std::int64_t{i} * per_image + at] = 0.0F; }
};

template <class N>
struct TakeBatch {
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int) const { m.take_batch(); }
};
template <class N>
struct TakeTests {
  MemoryOf<N> m;
  std::int64_t first;
  LEAGUE_FUNCTION void operator()(int) const { m.now->take = m.s.tests(first); }
};
template <class N>
struct Update {
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int at) const { m.s.update(at, m.now->size); }
};
template <class N>
struct UpdateReplicated {
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int at) const { m.s.update(Replicated<N>::parameter(at), m.now->size); }
};
template <class N>
struct EndStep {
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int) const {
    m.s.end_step();
    m.take_batch();
  }
};
/// Counts correctly classified test images, every `threads`-th.
template <class N>
struct CountRight {
  static constexpr int threads = 256;
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int at) const {
    std::int64_t right = 0;
    for (std::int64_t i = at; i < m.s.test_count; i += threads)
      right += m.s.predictions[i] == m.s.test_labels[m.s.test_first + i] ? 1 : 0;
    m.counts[at] = right;
  }
};
template <class N>
struct AddCounts {
  MemoryOf<N> m;
  LEAGUE_FUNCTION void operator()(int) const {
    std::int64_t right = 0;
    for (int at = 0; at < CountRight<N>::threads; ++at) right += m.counts[at];
    *m.s.correct_here = right;
  }
};

}  // namespace league::cnn::layers
