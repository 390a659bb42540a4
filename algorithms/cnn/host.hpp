// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/cnn/host_backward.hpp"
#include "algorithms/cnn/part.hpp"
#include "backends/host_array.hpp"
#include "backends/launch.hpp"

/// `direct` on the threads of a host: the phases of a step, each of which all threads take together.
namespace league::cnn {

/// The phases for one of `threads` threads.
struct HostStep {
  State state;
  HostScratch* scratch;  ///< [threads]
  int threads;

  [[nodiscard]] Range part(std::int64_t all, int thread) const { return piece_of(all, threads, thread); }

  // Convolutions, ReLU, pool, dropout; a thread some images.
  void convolve(const Take& take, int thread) const {
    const Range images = part(take.count, thread);
    for (std::int64_t i = images.begin; i < images.end; ++i)
      convolve_image(state, take, static_cast<int>(i), scratch[thread]);
  }

  // The first dense layer without its bias; a thread some pairs of neurons.
  void multiply(const Take& take, int thread) const {
    const Range pairs = part(hidden / 2, thread);
    for (auto j = static_cast<int>(2 * pairs.begin); j < 2 * pairs.end; j += 2)
      for (int i = 0; i < take.count; i += 4) {
        const float* w = state.weights + fc1_weights + j * pooled;
        Lanes sums[4][2] = {};
        const float* rows[4];
        for (int r = 0; r < 4; ++r) rows[r] = state.p + std::int64_t{std::min(i + r, take.count - 1)} * pooled;
        for (int k = 0; k < pooled; k += lanes) {
          const Lanes w0 = load(w + k), w1 = load(w + pooled + k);
          for (int r = 0; r < 4; ++r) {
            const Lanes p = load(rows[r] + k);
            sums[r][0] += p * w0;
            sums[r][1] += p * w1;
          }
        }
        for (int r = 0; r < 4 && i + r < take.count; ++r)
          for (int n = 0; n < 2; ++n) state.h[(i + r) * hidden + j + n] = sum_of(sums[r][n]);
      }
  }

  // The last layers, the loss and the gradients of what goes into them; a thread some images.
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
        for (int j = 0; j < hidden; ++j) sums[j] += d * w[fc2_weights + c * hidden + j];
      }
      for (int j = 0; j < hidden; ++j) state.d_h[i * hidden + j] = factors[j] * sums[j];
    }
  }

  // Gradients of the dense layers; a thread some fours of neurons, the first one the small rest too.
  void differentiate_dense(const Take& take, int thread) const {
    const Range fours = part(hidden / 4, thread);
    for (auto j = static_cast<int>(4 * fours.begin); j < 4 * fours.end; j += 4) {
      for (int k = 0; k < pooled; k += 2 * lanes) {
        Lanes sums[4][2] = {};
        for (int i = 0; i < take.count; ++i) {
          const float* p = state.p + std::int64_t{i} * pooled + k;
          const Lanes p0 = load(p), p1 = load(p + lanes);
          for (int n = 0; n < 4; ++n) {
            const float d = state.d_h[i * hidden + j + n];
            sums[n][0] += d * p0;
            sums[n][1] += d * p1;
          }
        }
        for (int n = 0; n < 4; ++n)
          for (int v = 0; v < 2; ++v)
            store(state.gradient + fc1_weights + (j + n) * pooled + k + v * lanes, sums[n][v]);
      }
      for (int n = j; n < j + 4; ++n) {
        float sum = 0;
        for (int i = 0; i < take.count; ++i) sum += state.d_h[i * hidden + n];
        state.gradient[fc1_biases + n] = sum;
      }
    }
    if (thread != 0) return;
    float loss = 0;
    for (int i = 0; i < take.count; ++i) loss += state.losses[i];
    state.gradient[parameters] = loss * take.share;
    for (int c = 0; c < classes; ++c) {
      float bias = 0, sums[hidden] = {};
      for (int i = 0; i < take.count; ++i) {
        const float d = state.d_logits[i * classes + c];
        bias += d;
        for (int j = 0; j < hidden; ++j) sums[j] += d * state.h[i * hidden + j];
      }
      std::copy_n(sums, hidden, state.gradient + fc2_weights + c * hidden);
      state.gradient[fc2_biases + c] = bias;
    }
  }

  // The gradient of what goes into the dense layers; a thread some columns.
  void multiply_back(const Take& take, int thread) const {
    const Range blocks = part(pooled / (2 * lanes), thread);
    for (auto k = static_cast<int>(2 * lanes * blocks.begin); k < 2 * lanes * blocks.end; k += 2 * lanes)
      for (int i = 0; i < take.count; i += 4) {
        Lanes sums[4][2] = {};
        const float* rows[4];
        for (int r = 0; r < 4; ++r) rows[r] = state.d_h + std::min(i + r, take.count - 1) * hidden;
        for (int j = 0; j < hidden; ++j) {
          const float* w = state.weights + fc1_weights + j * pooled + k;
          const Lanes w0 = load(w), w1 = load(w + lanes);
          for (int r = 0; r < 4; ++r) {
            sums[r][0] += rows[r][j] * w0;
            sums[r][1] += rows[r][j] * w1;
          }
        }
        for (int r = 0; r < 4 && i + r < take.count; ++r)
          for (int v = 0; v < 2; ++v) store(state.d_p + std::int64_t{i + r} * pooled + k + v * lanes, sums[r][v]);
      }
  }

  // Gradients of the convolutions; a thread some images, with sums of its own.
  void differentiate_convolutions(const Take& take, int thread) const {
    HostScratch& mine = scratch[thread];
    std::fill(std::begin(mine.gradient), std::end(mine.gradient), 0.0F);
    const Range images = part(take.count, thread);
    for (std::int64_t i = images.begin; i < images.end; ++i)
      differentiate_image(state, take, static_cast<int>(i), mine);
  }
  void add_convolutions(int thread) const {
    const Range mine = part(fc1_weights, thread);
    for (std::int64_t at = mine.begin; at < mine.end; ++at) {
      float sum = 0;
      for (int other = 0; other < threads; ++other) sum += scratch[other].gradient[at];
      state.gradient[at] = sum;
    }
  }

  void update(int thread) const {
    const blocks::StepSize<float> size = state.step_size();
    const Range mine = part(parameters, thread);
    for (auto i = static_cast<int>(mine.begin); i < mine.end; ++i) state.update(i, size);
  }
  void count() const {
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < state.test_count; ++i)
      right += state.predictions[i] == state.test_labels[state.test_first + i] ? 1 : 0;
    *state.correct_here = right;
  }
};

/// A shard on a host. `Threads` are those of a launch: `all(phase)` calls phase(thread) in each.
template <class Threads, template <class> class Array>
class HostPart final : public CnnPart<Array> {
  using Base = CnnPart<Array>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override {
    launch_ = Threads::resolve(this->queue(), launch);
    scratch_.resize(static_cast<std::size_t>(launch_.league * launch_.team));
    return launch_;
  }
  void begin() const override {
    submit([](const HostStep& on, const Threads& all) { all([&](int t) { on.state.begin(t, on.threads); }); });
  }
  void keep_start() const override {
    submit([](const HostStep& on, const Threads& all) { all([&](int t) { on.state.keep_start(t, on.threads); }); });
  }
  void keep_before() const override {
    submit([](const HostStep& on, const Threads& all) { all([&](int t) { on.state.keep_before(t, on.threads); }); });
  }
  void differentiate(Stages& stages) const override {
    stages.stage(this->queue(), "forward", [&] {
      submit([](const HostStep& on, const Threads& all) {
        const Take take = on.state.now();
        all([&](int t) { on.convolve(take, t); });
        all([&](int t) { on.multiply(take, t); });
        all([&](int t) { on.judge(take, t); });
      });
    });
    stages.stage(this->queue(), "backward", [&] {
      submit([](const HostStep& on, const Threads& all) {
        const Take take = on.state.now();
        all([&](int t) { on.differentiate_dense(take, t); });
        all([&](int t) { on.multiply_back(take, t); });
        all([&](int t) { on.differentiate_convolutions(take, t); });
        all([&](int t) { on.add_convolutions(t); });
      });
    });
  }
  void update() const override {
    submit([](const HostStep& on, const Threads& all) {
      all([&](int t) { on.update(t); });
      on.state.end_step();
    });
  }
  void evaluate() const override {
    submit([](const HostStep& on, const Threads& all) {
      for (std::int64_t begin = 0; begin < on.state.test_count;) {
        const Take take = on.state.tests(begin);
        all([&](int t) { on.convolve(take, t); });
        all([&](int t) { on.multiply(take, t); });
        all([&](int t) { on.judge(take, t); });
        begin += take.count;
      }
      on.count();
    });
  }
  void end_epoch() const override {
    submit([](const HostStep& on, const Threads&) { on.state.end_epoch(); });
  }

 private:
  template <class Body>
  void submit(const Body& body) const {
    const HostStep step{this->memory(), scratch_.data(), static_cast<int>(scratch_.size())};
    this->queue().submit([step, body, all = Threads(this->runtime(), this->queue(), launch_)] { body(step, all); });
  }
  Launch launch_;
  mutable std::vector<HostScratch> scratch_;
};

}  // namespace league::cnn
