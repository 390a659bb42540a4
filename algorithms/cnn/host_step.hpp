// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/cnn/host_backward.hpp"
#include "backends/launch.hpp"

/// The phases of a step on host threads; all threads take part in each.
namespace league::cnn {

/// Shared by all methods, for one of `threads` threads: dense layers, loss, update.
template <class N>
struct HostStepOf {
  using Net = N;
  using Take = TakeOf<Net>;
  static constexpr int hidden = Net::hidden, flat = Net::flat;
  StateOf<Net> state;
  int threads;

  [[nodiscard]] Range part(std::int64_t all, int thread) const { return piece_of(all, threads, thread); }

  // The last layers, the loss and the gradients of their inputs; a thread takes some images.
  void judge(const Take& take, int thread) const {
    const Range images = part(take.count, thread);
    for (auto i = static_cast<int>(images.begin); i < images.end; ++i) {
      const float* w = state.weights;
      float factors[hidden];
      const Head head = head_of(state, take, i, factors);
      const int label = take.labels[take.number(i)];
      if (!take.trains) {
        state.predictions[take.first - state.test_first + i] = head.best();
        continue;
      }
      state.losses[i] = head.loss(label);
      float sums[hidden] = {};
      for (int c = 0; c < classes; ++c) {
        const float d = head.gradient(c, label, take.share);
        state.d_logits[i * classes + c] = d;
        for (int j = 0; j < hidden; ++j) sums[j] += d * w[Net::fc2_weights + c * hidden + j];
      }
      for (int j = 0; j < hidden; ++j) state.d_h[i * hidden + j] = factors[j] * sums[j];
    }
  }
  // Gradients of the dense layers' biases and of the last layer's weights, and the loss; a thread takes some neurons.
  void differentiate_last(const Take& take, int thread) const {
    const Range neurons = part(hidden, thread), outputs = part(classes, thread);
    for (auto j = static_cast<int>(neurons.begin); j < neurons.end; ++j) {
      float sum = 0;
      for (int i = 0; i < take.count; ++i) sum += state.d_h[i * hidden + j];
      state.gradient[Net::fc1_biases + j] = sum;
    }
    for (auto c = static_cast<int>(outputs.begin); c < outputs.end; ++c) {
      float bias = 0, sums[hidden] = {};
      for (int i = 0; i < take.count; ++i) {
        const float d = state.d_logits[i * classes + c];
        bias += d;
        for (int j = 0; j < hidden; ++j) sums[j] += d * state.h[i * hidden + j];
      }
      std::copy_n(sums, hidden, state.gradient + Net::fc2_weights + c * hidden);
      state.gradient[Net::fc2_biases + c] = bias;
    }
    if (thread != 0) return;
    float loss = 0;
    for (int i = 0; i < take.count; ++i) loss += state.losses[i];
    state.gradient[Net::parameters] = loss * take.share;
  }
  /// Updates these parameters; a thread takes some.
  void update(Range all, int thread) const {
    const blocks::StepSize<float> size = state.step_size();
    const Range mine = part(all.size(), thread);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) state.update(static_cast<int>(all.begin + i), size);
  }
  void count() const {
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < state.test_count; ++i)
      right += state.predictions[i] == state.test_labels[state.test_first + i] ? 1 : 0;
    *state.correct_here = right;
  }
  // The first dense layer without its bias; a thread takes some tiles of neurons x images, vectors along the inputs.
  void multiply(const Take& take, int thread) const {
    const std::int64_t tiles = ceil_div(take.count, wide);
    const Range mine = part(hidden / high * tiles, thread);
    for (std::int64_t tile = mine.begin; tile < mine.end; ++tile) {
      const int j = static_cast<int>(tile / tiles) * high, i = static_cast<int>(tile % tiles) * wide;
      const float* w = state.weights + Net::fc1_weights + j * flat;
      const float* rows[wide];
      for (int r = 0; r < wide; ++r) rows[r] = state.p + std::int64_t{std::min(i + r, take.count - 1)} * flat;
      Lanes sums[high][wide] = {};
      for (int k = 0; k < flat; k += lanes) {
        Lanes p[wide];
        for (int r = 0; r < wide; ++r) p[r] = load(rows[r] + k);
        for (int n = 0; n < high; ++n) {
          const Lanes weights = load(w + n * flat + k);
          for (int r = 0; r < wide; ++r) sums[n][r] += weights * p[r];
        }
      }
      for (int r = 0; r < wide && i + r < take.count; ++r)
        for (int n = 0; n < high; ++n) state.h[(i + r) * hidden + j + n] = sum_of(sums[n][r]);
    }
  }
  // Gradients of the first dense layer's weights and inputs; a thread takes some columns.
  void differentiate_dense(const Take& take, int thread) const {
    constexpr int width = wide * lanes;
    static_assert(flat % width == 0);
    differentiate_last(take, thread);
    const Range columns = part(flat / width, thread);
    for (std::int64_t column = columns.begin; column < columns.end; ++column) {
      const auto k = static_cast<int>(column * width);
      for (int j = 0; j < hidden; j += high) {
        Lanes sums[high][wide] = {};
        multiply_add(sums, state.d_h + j, {1, hidden}, state.p + k, {0, flat}, take.count);
        store(state.gradient + Net::fc1_weights + j * flat + k, flat, sums);
      }
      int i = 0;
      for (; i + high <= take.count; i += high) multiply_back<high>(take, i, k);
      for (; i < take.count; ++i) multiply_back<1>(take, i, k);
    }
  }

 private:
  static constexpr int high = lanes / 2, wide = flat % (3 * lanes) == 0 ? 3 : 2;  ///< sums of a tile, in vectors

  template <int rows>
  void multiply_back(const Take& take, int i, int k) const {
    const auto scale = state.dropout_of(take).template pooled_scale<float>();
    Lanes sums[rows][wide] = {};
    multiply_add(sums, state.d_h + i * hidden, {hidden, 1}, state.weights + Net::fc1_weights + k, {0, flat}, hidden);
    for (auto& row : sums)
      for (Lanes& sum : row) sum *= scale;
    store(state.d_p + std::int64_t{i} * flat + k, flat, sums);
  }
};
using HostStep = HostStepOf<Mnist>;

/// Our own loops. `Second`: the second convolution's backward pass, of one image.
template <class Second>
struct LoopStep : HostStep {
  /// The threads' scratch.
  class Memory {
   public:
    template <class MethodShard>
    void configure(MethodShard& /*shard*/, const State& /*state*/, int threads) {
      scratch_.resize(static_cast<std::size_t>(threads));
    }
    [[nodiscard]] HostScratch* scratch() { return scratch_.data(); }

   private:
    std::vector<HostScratch> scratch_;
  };
  LoopStep(const State& with, int count, Memory& memory) : HostStep{with, count}, scratch(memory.scratch()) {}

  template <class Threads>
  void forward(const Threads& all, const Take& take) const {
    all([&](int thread) { convolve(take, thread); });
    all([&](int thread) { multiply(take, thread); });
    all([&](int thread) { judge(take, thread); });
  }
  template <class Threads>
  void dense_back(const Threads& all, const Take& take) const {
    all([&](int thread) { differentiate_dense(take, thread); });
  }
  template <class Threads>
  void convolve_back(const Threads& all, const Take& take) const {
    all([&](int thread) { differentiate_convolutions(take, thread); });
    all([&](int thread) { add_convolutions(thread); });
  }

 protected:
  // Convolutions, ReLU, pool, dropout; a thread takes some images.
  void convolve(const Take& take, int thread) const {
    const Range images = part(take.count, thread);
    if (images.size() > 0) pack_forward(state.weights, scratch[thread]);
    for (std::int64_t i = images.begin; i < images.end; ++i)
      convolve_image(state, take, static_cast<int>(i), scratch[thread]);
  }
  // Gradients of the convolutions; a thread takes some images, with its own sums.
  void differentiate_convolutions(const Take& take, int thread) const {
    HostScratch& mine = scratch[thread];
    std::fill(std::begin(mine.gradient1), std::end(mine.gradient1), 0.0F);
    std::fill(std::begin(mine.bias_gradient1), std::end(mine.bias_gradient1), 0.0F);
    std::fill(std::begin(mine.gradient2), std::end(mine.gradient2), 0.0F);
    std::fill(std::begin(mine.bias_gradient2), std::end(mine.bias_gradient2), 0.0F);
    const Range images = part(take.count, thread);
    if (images.size() > 0) pack_backward(state.weights, mine);
    for (std::int64_t i = images.begin; i < images.end; ++i)
      differentiate_image<Second>(state, take, static_cast<int>(i), mine);
  }
  // Adds the sums of all threads; a thread takes some output channels of both convolutions.
  void add_convolutions(int thread) const {
    const Range first = part(channels1, thread), second = part(channels2, thread);
    for (auto c = static_cast<int>(first.begin); c < first.end; ++c) {
      for (int t = 0; t < taps; ++t)
        state.gradient[conv1_weights + c * taps + t] =
            sum([&](const HostScratch& of) { return of.gradient1[t * channels1 + c]; });
      state.gradient[conv1_biases + c] = sum([&](const HostScratch& of) { return of.bias_gradient1[c]; });
    }
    for (auto o = static_cast<int>(second.begin); o < second.end; ++o) {
      for (int c = 0; c < channels1; ++c)
        for (int t = 0; t < taps; ++t)
          state.gradient[conv2_weights + (o * channels1 + c) * taps + t] =
              sum([&](const HostScratch& of) { return of.gradient2[(o * taps + t) * channels1 + c]; });
      state.gradient[conv2_biases + o] = sum([&](const HostScratch& of) { return of.bias_gradient2[o]; });
    }
  }
  template <class Value>
  [[nodiscard]] float sum(const Value& value) const {
    float all = 0;
    for (int thread = 0; thread < threads; ++thread) all += value(scratch[thread]);
    return all;
  }

  HostScratch* scratch;  ///< [threads]
};

}  // namespace league::cnn
