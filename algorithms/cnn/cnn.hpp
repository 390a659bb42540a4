// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/blocks/optimizer.hpp"
#include "algorithms/cnn/networks.hpp"
#include "algorithms/contract/registry.hpp"

namespace league {

namespace cnn {
class Start;
}

/// Training of a convolutional network (algorithms/cnn/networks.hpp) in mini-batches. Each epoch has its own order of
/// the images; a step's gradient is that of the mean loss over its batch.
class Cnn final : public Problem {
 public:
  static constexpr const char* algorithm = "cnn";
  static constexpr int teams_per_image = 6;  ///< at most, in any kernel
  /// Of the last step: state before and after it, gradient, and the network's decisions (pool, ReLU) on its images.
  /// Inference has `weights`, `state`, `correct` and `predictions` only.
  enum Output {
    loss,              ///< f32 [steps]: the mean of each batch
    weights,           ///< f32 [parameters]
    state,             ///< f32 [states x parameters]: the optimizer's
    weights_before,    ///< as `weights`
    state_before,      ///< as `state`
    gradient,          ///< f32 [parameters]
    pool_decisions,    ///< u8 [images x decisions]: cnn::Decision
    hidden_decisions,  ///< u8 [images x hidden]: 1 where a value is above 0
    correct,  ///< i64 [tests]: correctly classified test images after each epoch; one for inference, none for `steps`
    predictions,  ///< i32 [test images]: classes at the last test
  };

  /// Forms of `gradient` that have error bounds of their own: products of factors of these types; with the ending also
  /// the convolutions backward, those and the first convolution, or all products (`cnn::Arithmetic`); `bf16_all`: the
  /// results of products, too, may be stored in bf16 between the layers; `f32_transformed`: convolutions may be
  /// Winograd's.
  static constexpr const char *tf32 = "tf32", *bf16 = "bf16", *tf32_backward = "tf32 backward",
                              *bf16_backward = "bf16 backward", *tf32_convolutions = "tf32 convolutions",
                              *bf16_convolutions = "bf16 convolutions", *tf32_all = "tf32 all", *bf16_all = "bf16 all",
                              *f32_transformed = "f32 transformed";
  /// Form of `weights`: Adam with `blocks::f32_decays`.
  static constexpr const char* f32_decays = "decays in f32";
  static constexpr const char *of_backward = " backward", *of_convolutions = " convolutions", *of_all = " all";

  /// @throws std::invalid_argument naming the key and its limit
  explicit Cnn(const Making& making);
  ~Cnn() override;
  [[nodiscard]] std::int64_t extent() const override { return data.train.rows(); }
  [[nodiscard]] std::int64_t batch_rows() const override { return batch; }
  [[nodiscard]] std::int64_t max_teams() const override {
    return teams_per_image * std::max(data.train.rows(), data.test.rows());
  }
  [[nodiscard]] Cost cost() const override;
  [[nodiscard]] double method_bytes(std::string_view method) const override;
  [[nodiscard]] double method_operations(std::string_view method) const override;
  /// @throws std::invalid_argument naming the image with a bad label
  void make_inputs(Range local, std::pmr::memory_resource& memory) override;
  [[nodiscard]] Outputs make_outputs(Range local, std::pmr::memory_resource& memory) const override;
  [[nodiscard]] Outputs inputs() const override;
  [[nodiscard]] Verdict check(const Outputs& outputs, Reduce& reduce) const override;

  /// Number of tests: passes over the test images.
  [[nodiscard]] std::int64_t tests() const;
  /// Batches per epoch.
  [[nodiscard]] std::int64_t batches() const;
  /// Images of step `step`, from 0; the last batch of an epoch may be smaller.
  [[nodiscard]] std::int64_t images_of(std::int64_t step) const;
  /// Indices of these images in the training set.
  [[nodiscard]] std::span<const std::int32_t> order_of(std::int64_t step) const;
  /// The learning rate of the step's epoch.
  [[nodiscard]] float rate_of(std::int64_t step) const;
  /// What the oracle knows of the first steps.
  [[nodiscard]] cnn::Start& start() const { return *start_; }

  const cnn::Network& network;
  Dataset data;          ///< as given: all images in every process
  bool trains;           ///< training; else inference on the test images, after `warm_up` steps
  std::int64_t batch;    ///< images per step, at most all training images
  std::int64_t steps;    ///< total number
  std::int64_t epochs;   ///< covered by the steps, the last perhaps partially
  std::int64_t warm_up;  ///< untimed steps before the first
  bool evaluates;        ///< on the test set, after each epoch
  blocks::Optimizer optimizer;
  bool shards_optimizer;  ///< where there are several shards
  bool on_host;           ///< training images stay in host memory, and are loaded batch by batch
  int workers;            ///< threads that load them, per shard
  double learning_rate, gamma;
  cnn::Dropout dropout;
  HostArray initial{};       ///< f32 [parameters]
  HostArray order{};         ///< i32 [epochs x rows]
  HostArray rates{};         ///< f32 [epochs]
  HostArray dropout_seed{};  ///< i64 [1]: the bits of `dropout.seed`, for peers

 private:
  [[nodiscard]] double multiply_adds() const;
  [[nodiscard]] double images_taken() const;
  std::uint64_t seed_;
  bool shuffled_;
  std::unique_ptr<cnn::Start> start_;
};

}  // namespace league
