// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/variant_shard.hpp"

namespace league {

/// Number of steps of a training.
struct Schedule {
  std::int64_t steps = 1;  ///< per epoch; 0: inference
  std::int64_t epochs = 1;
  std::int64_t warm_up = 0;  ///< untimed steps before the first
  bool evaluates = false;    ///< after each epoch; always for inference
};

/// Part of the gradient, complete after a phase of the backward pass; the all-reduce is in place.
struct GradientPiece {
  Buffer gradient;
  /// With a sharded optimizer the parameters of this part: each shard updates its piece of them (`piece_of`) from its
  /// piece of the sum (reduce-scatter), then all get all pieces (all-gather). Empty: every shard updates all.
  Buffer parameters{};
};

/// One variant of training a network on one shard's images of each mini-batch. Weights, optimizer state and step
/// counter are on the device, replicated on every shard. All calls but `reset` only submit work to the queue and must
/// not change host state, since they are recorded into graphs.
class TrainingShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  /// Restores weights, optimizer state and step counter saved by `keep_start`, initially the initial ones. Part of
  /// every compute, so that computes are repeatable.
  virtual void begin() const = 0;
  /// Saves the state for `begin`.
  virtual void keep_start() const = 0;
  /// Where images are loaded from host memory while steps run: begins with the input of these steps. Changes host
  /// state, as `take_input` does: not recorded.
  virtual void start_input(Range /*steps*/, Stages& /*stages*/) {}
  /// The next step's kernels wait for its input. @throws what loading it threw
  virtual void take_input(Stages& /*stages*/) {}
  /// Phases of a step up to its gradient. What one completes is added over all shards while the next goes on.
  static constexpr int phases = 2;
  /// Computes this shard's contribution to the gradient of the mean loss over the batch, as far as `pieces(phase)`; the
  /// first phase begins with the forward pass.
  virtual void differentiate(Stages& stages, int phase) const = 0;
  /// The parts of the gradient, and of the loss behind it, that `phase` completes. The same in every step.
  [[nodiscard]] virtual std::vector<GradientPiece> pieces(int phase) const = 0;
  /// Updates this shard's piece of the parameters of a sharded optimizer, on the second queue: they are pieces of a
  /// phase before the last.
  virtual void update_own() const = 0;
  /// Updates all other parameters, and ends the step.
  virtual void update() const = 0;
  /// Values as long as the sharded parameters, of which only the shard's own piece is up to date: gradient and state.
  [[nodiscard]] virtual std::vector<Buffer> sharded_results() const = 0;
  /// Copies weights and state before the last step to the results.
  virtual void keep_before() const = 0;
  /// Classifies this shard's part of the test set, and counts the correct ones.
  virtual void evaluate() const = 0;
  /// The count, for the all-reduce.
  [[nodiscard]] virtual Buffer correct() const = 0;
  /// Stores the total count as the epoch's, and ends the epoch.
  virtual void end_epoch() const = 0;
};

/// Trains on all shards, in each step: gradient, all-reduce beside the backward pass, update; or classifies the test
/// set, with the weights after the warm-up.
std::unique_ptr<Prepared> train(const Context& context, const Schedule& schedule,
                                const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make);

}  // namespace league
