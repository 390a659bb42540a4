// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "algorithms/blocks/optimizer.hpp"
#include "algorithms/cnn/network.hpp"
#include "algorithms/contract/registry.hpp"

namespace league {

/// Training of the convolutional network (algorithms/cnn/network.hpp) in mini-batches. The images of an epoch come in
/// an order of their own; the gradient of a step is that of the mean loss over its batch.
class Cnn final : public Problem {
 public:
  static constexpr const char* algorithm = "cnn";
  /// Of the last step: the state before it and after it, its gradient, and what the network decided on its images.
  /// Inference has `weights`, `state`, `correct` and `predictions`, the others are empty.
  enum Output {
    loss,              ///< f32 [steps]: the mean of each batch
    weights,           ///< f32 [parameters]
    state,             ///< f32 [states x parameters]: the optimizer's
    weights_before,    ///< as `weights`
    state_before,      ///< as `state`
    gradient,          ///< f32 [parameters]
    pool_decisions,    ///< u8 [images x pooled]: cnn::Decision
    hidden_decisions,  ///< u8 [images x hidden]: 1 where a value is above 0
    correct,      ///< i64 [tests]: test images that are classified right after each; one of inference, none for `steps`
    predictions,  ///< i32 [test images]: their classes after the last
  };

  /// @throws std::invalid_argument naming the key and its limit
  explicit Cnn(const Making& making);
  [[nodiscard]] std::int64_t extent() const override { return data.train.rows(); }
  [[nodiscard]] std::int64_t batch_rows() const override { return batch; }
  [[nodiscard]] Cost cost() const override;
  /// @throws std::invalid_argument naming the image with a bad label
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  /// How often the test images are classified.
  [[nodiscard]] std::int64_t tests() const;
  /// Batches of an epoch.
  [[nodiscard]] std::int64_t batches() const;
  /// Images of step number `step`, from 0 on: the last batch of an epoch may have fewer.
  [[nodiscard]] std::int64_t images_of(std::int64_t step) const;
  /// The numbers of these images in the training set.
  [[nodiscard]] std::span<const std::int32_t> order_of(std::int64_t step) const;
  /// The learning rate of the step's epoch.
  [[nodiscard]] float rate_of(std::int64_t step) const;

  Dataset data;          ///< as it was given: all of it in every process
  bool trains;           ///< else it classifies the test images only, after `warm_up` steps
  std::int64_t batch;    ///< images that are taken together, at most all of the training
  std::int64_t steps;    ///< in all
  std::int64_t epochs;   ///< that the steps take a part of
  std::int64_t warm_up;  ///< steps before the first, which are not timed
  bool evaluates;        ///< on the test set, after each epoch
  blocks::Optimizer optimizer;
  double learning_rate, gamma;
  cnn::Dropout dropout;
  HostArray initial{};       ///< f32 [parameters]
  HostArray order{};         ///< i32 [epochs x rows]
  HostArray rates{};         ///< f32 [epochs]
  HostArray dropout_seed{};  ///< i64 [1]: the bits of `dropout.seed`, for peers

 private:
  std::uint64_t seed_;
  bool shuffled_;
};

}  // namespace league
