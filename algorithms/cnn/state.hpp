// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/optimizer.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/cnn/networks.hpp"
#include "backends/launch.hpp"

/// Data of the kernels of all models.
namespace league::cnn {

/// Neighbouring values moved together.
using Four = blocks::Pack<float>;
using Pair = blocks::Pack<float, 8>;

/// A set of images for the kernels.
template <class Net>
struct TakeOf {
  const std::uint8_t* images;  ///< [all x pixels]
  const std::int32_t* labels;
  const std::int32_t* order;  ///< their indices; null: consecutive, in training from 0, of tests from `first` on
  std::int64_t first;         ///< position of the first in the batch of all devices; of tests its index
  std::int64_t step;
  int count;
  float share;  ///< weight of an image in the mean: 1 / images of the batch
  bool trains;  ///< with dropout; decisions are stored

  [[nodiscard]] LEAGUE_FUNCTION std::int64_t number(int i) const {
    return order != nullptr ? order[i] : (trains ? 0 : first) + i;
  }
  [[nodiscard]] LEAGUE_FUNCTION const std::uint8_t* image(int i) const { return images + number(i) * Net::pixels; }
  /// Position in the batch, for dropout.
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t position(int i) const { return first + i; }
};

using Take = TakeOf<Mnist>;

/// A shard's part of a batch as it is copied from the host: labels, then images.
struct BatchLayout {
  static constexpr int buffers = 2;           ///< on the device: of this step, and of the next
  std::int64_t images_at = 0, all_bytes = 0;  ///< of the images in it, and of the whole

  static BatchLayout of(std::int64_t max_images, std::int64_t image_bytes) {
    const auto padded = [](std::int64_t bytes) { return ceil_div(bytes, std::int64_t{64}) * 64; };
    const std::int64_t labels = padded(max_images * static_cast<std::int64_t>(sizeof(std::int32_t)));
    return {labels, labels + padded(max_images * image_bytes)};
  }
};

/// One shard's memory.
template <class N>
struct StateOf {
  using Net = N;
  using Take = TakeOf<Net>;
  const std::uint8_t *train, *test;
  const std::int32_t *train_labels, *test_labels;
  const std::int32_t* order;        ///< [epochs x train images]
  const std::uint8_t* staged;       ///< [BatchLayout::buffers x bytes]: batches from the host; null: all are in `train`
  BatchLayout layout;               ///< of `staged`
  const float* rates;               ///< [epochs]
  std::int64_t *step, *start_step;  ///< next step, from 0; first step of a compute
  std::int64_t* epoch;              ///< next epoch

  float *weights, *state;                ///< [parameters], [states x parameters]
  float *start_weights, *start_state;    ///< at the start of a compute
  float *weights_before, *state_before;  ///< before the last step
  float* gradient;                       ///< [parameters + 1], the loss last
  float* loss;                           ///< [steps]

  float *p, *d_p;                                   ///< [images x flat]: inputs of the first dense layer
  float *h, *d_h;                                   ///< [images x hidden]
  float* d_logits;                                  ///< [images x classes]
  float* losses;                                    ///< [images]
  std::uint8_t *pool_decisions, *hidden_decisions;  ///< [images x decisions], [images x hidden]

  std::int64_t* correct_here;  ///< [1]
  std::int64_t* correct;       ///< [epochs]
  std::int32_t* predictions;   ///< [this shard's test images]

  std::int64_t images, batch, batches, warm_up, steps;
  std::int64_t own_first, own_count;            ///< this shard's part of a whole batch
  std::int64_t own_last_first, own_last_count;  ///< of an epoch's last
  std::int64_t test_first, test_count;          ///< of the test set
  blocks::Optimizer optimizer;
  Dropout dropout;

  /// This shard's images of the next step.
  [[nodiscard]] LEAGUE_FUNCTION Take now() const {
    const std::int64_t at = *step, number = at % batches;
    const bool last = number + 1 == batches;
    const std::int64_t here = last ? own_last_first : own_first, all = last ? images - number * batch : batch;
    Take take{train,
              train_labels,
              order + at / batches * images + number * batch + here,
              here,
              at,
              static_cast<int>(last ? own_last_count : own_count),
              1.0F / static_cast<float>(all),
              true};
    if (staged != nullptr) {
      const std::uint8_t* buffer = staged + at % BatchLayout::buffers * layout.all_bytes;
      take.images = buffer + layout.images_at;
      take.labels = reinterpret_cast<const std::int32_t*>(buffer);
      take.order = nullptr;
    }
    return take;
  }
  /// This shard's test images from `begin` on; as many as its share of a batch.
  [[nodiscard]] LEAGUE_FUNCTION Take tests(std::int64_t begin) const {
    const std::int64_t left = test_count - begin, max_images = own_count > 0 ? own_count : 1;
    return {test, test_labels, nullptr, test_first + begin, 0, static_cast<int>(left < max_images ? left : max_images),
            0,    false};
  }
  [[nodiscard]] LEAGUE_FUNCTION Dropout dropout_of(const Take& take) const {
    return {dropout.seed, dropout.on && take.trains};
  }
  [[nodiscard]] LEAGUE_FUNCTION blocks::StepSize<float> step_size() const {
    return blocks::step_size(optimizer, rates[*step / batches], *step + 1);
  }
  /// Parameter `i` with its state.
  [[nodiscard]] LEAGUE_FUNCTION blocks::Weight<float> weight(int i) const {
    if (blocks::states_of(optimizer) == 0) return {weights[i], 0, 0};
    return {weights[i], state[i], state[Net::parameters + i]};
  }
  LEAGUE_FUNCTION void store(int i, const blocks::Weight<float>& weight) const {
    weights[i] = weight.value;
    if (blocks::states_of(optimizer) > 0) state[i] = weight.first, state[Net::parameters + i] = weight.second;
  }
  /// The optimizer's update of parameter `i`.
  LEAGUE_FUNCTION void update(int i, const blocks::StepSize<float>& size) const {
    store(i, blocks::advanced(optimizer, weight(i), gradient[i], size, Net::adam_epsilon));
  }
  /// Threads of a GPU that copy, a few parameters each.
  static constexpr int copying_threads = (Net::parameters + 3) / 4;
  /// Copies weights, state and step, for thread `thread` of `threads`.
  LEAGUE_FUNCTION void copy(float* to, const float* from, float* to_state, const float* from_state, int thread,
                            int threads) const {
    for (int i = thread; i < Net::parameters; i += threads) to[i] = from[i];
    for (int i = thread; i < blocks::states_of(optimizer) * Net::parameters; i += threads) to_state[i] = from_state[i];
  }
  LEAGUE_FUNCTION void begin(int thread, int threads) const {
    copy(weights, start_weights, state, start_state, thread, threads);
    if (thread == 0) *step = *start_step, *epoch = 0;
  }
  LEAGUE_FUNCTION void keep_start(int thread, int threads) const {
    copy(start_weights, weights, start_state, state, thread, threads);
    if (thread == 0) *start_step = *step;
  }
  LEAGUE_FUNCTION void keep_before(int thread, int threads) const {
    copy(weights_before, weights, state_before, state, thread, threads);
  }
  LEAGUE_FUNCTION void end_epoch() const { correct[(*epoch)++] = *correct_here; }
  /// Ends a step; called by one thread.
  LEAGUE_FUNCTION void end_step() const {
    const std::int64_t at = *step - warm_up;
    if (at >= 0 && at < steps) loss[at] = gradient[Net::parameters];
    ++*step;
  }
};

using State = StateOf<Mnist>;

/// Per-thread functors of `copying_threads` threads.
template <class S>
struct Begin {
  S s;
  LEAGUE_FUNCTION void operator()(int at) const { s.begin(at, S::copying_threads); }
};
template <class S>
struct KeepStart {
  S s;
  LEAGUE_FUNCTION void operator()(int at) const { s.keep_start(at, S::copying_threads); }
};
template <class S>
struct KeepBefore {
  S s;
  LEAGUE_FUNCTION void operator()(int at) const { s.keep_before(at, S::copying_threads); }
};
/// Updates a parameter of a shard's own piece, which begins at `first`.
template <class S>
struct UpdateOwn {
  S s;
  int first;
  LEAGUE_FUNCTION void operator()(int at) const { s.update(first + at, s.step_size()); }
};
/// The parameters that all shards update where the optimizer is sharded: all but the first dense layer's weights.
template <class Net>
struct Replicated {
  static constexpr int all = Net::fc1_weights + Net::parameters - Net::fc1_biases;
  LEAGUE_FUNCTION static int parameter(int at) {
    return at < Net::fc1_weights ? at : at - Net::fc1_weights + Net::fc1_biases;
  }
};
template <class S>
struct EndEpoch {
  S s;
  LEAGUE_FUNCTION void operator()(int) const { s.end_epoch(); }
};

/// The last layer and softmax of one image.
struct Head {
  float logits[classes];

  /// -log p[label].
  [[nodiscard]] LEAGUE_FUNCTION float loss(int label) const { return largest() + std::log(sum()) - logits[label]; }
  /// Gradient of the mean loss.
  [[nodiscard]] LEAGUE_FUNCTION float gradient(int c, int label, float share) const {
    return (std::exp(logits[c] - largest()) / sum() - (c == label ? 1.0F : 0.0F)) * share;
  }
  [[nodiscard]] LEAGUE_FUNCTION int best() const {
    int found = 0;
    for (int c = 1; c < classes; ++c)
      if (logits[c] > logits[found]) found = c;
    return found;
  }

 private:
  [[nodiscard]] LEAGUE_FUNCTION float largest() const { return logits[best()]; }
  [[nodiscard]] LEAGUE_FUNCTION float sum() const {
    float all = 0;
    for (const float logit : logits) all += std::exp(logit - largest());
    return all;
  }
};

}  // namespace league::cnn
