// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/shard_part.hpp"

namespace league {

/// How many steps a training takes.
struct Schedule {
  std::int64_t steps = 1;  ///< of an epoch; 0: inference
  std::int64_t epochs = 1;
  std::int64_t warm_up = 0;  ///< steps before the first, not timed
  bool evaluates = false;    ///< after each epoch; inference does nothing else
};

/// One variant of training a network on one shard's images of each mini-batch. Weights, the optimizer's state and the
/// number of the step lie on the device, the same on every shard. All calls but `reset` only submit work to the queue
/// and change nothing on the host, since a graph that was recorded once replays them.
class TrainingPart : public ShardPart {
 public:
  using ShardPart::ShardPart;
  /// The weights, the optimizer's state and the number of the step that `keep_start` has kept; at first the initial
  /// ones. Part of every compute: two in a row give the same result.
  virtual void begin() const = 0;
  /// Keeps them.
  virtual void keep_start() const = 0;
  /// What this shard's images add to the gradient of the mean loss over the batch.
  virtual void differentiate(Stages& stages) const = 0;
  /// Where it lies, with the loss behind it; the communicator adds those of the other shards in place.
  [[nodiscard]] virtual Buffer gradient() const = 0;
  /// The optimizer's step.
  virtual void update() const = 0;
  /// Weights and state before the last step, to the results.
  virtual void keep_before() const = 0;
  /// Classifies this shard's part of the test set, and counts what is right.
  virtual void evaluate() const = 0;
  /// The count; those of the other shards are added.
  [[nodiscard]] virtual Buffer correct() const = 0;
  /// The count of all is that of the epoch, which is over.
  virtual void end_epoch() const = 0;
};

/// Trains on all shards, in each step: gradient, all-reduce, update; or classifies the test set, with the weights that
/// the warm-up has left.
std::unique_ptr<Prepared> train(const Context& context, const Schedule& schedule,
                                const std::function<std::unique_ptr<TrainingPart>(const Shard&)>& make);

}  // namespace league
