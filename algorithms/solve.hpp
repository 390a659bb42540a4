// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/shard_part.hpp"

namespace league {

/// One variant of an iterative solve on the rows of one shard. Its state lies on the device, the same on every shard:
/// what is being fitted, the steps taken, whether it has stopped. A step that finds it stopped changes nothing, so that
/// the stop test needs no host. All calls only queue work.
class StepPart : public ShardPart {
 public:
  using ShardPart::ShardPart;
  /// The state before the first step. Part of every compute: two in a row give the same result.
  virtual void begin() = 0;
  /// What this shard's rows add to the step's sums; zeros where it has no rows.
  virtual void accumulate() = 0;
  /// Where `accumulate` leaves the sums, on the device; the communicator adds those of the other shards in place.
  [[nodiscard]] virtual std::span<double> sums() = 0;
  /// The next state, from the sums of all shards.
  virtual void update() = 0;
};

/// How the steps reach the devices: launched one by one, or recorded into a graph that is launched whole.
enum class Execution { stepwise, graph };

/// A solve of up to `steps` steps on all shards: in each, accumulate, add over the shards, update.
std::unique_ptr<Prepared> solve(const Problem& problem, const Context& context, std::int64_t steps, Execution execution,
                                const std::function<std::unique_ptr<StepPart>(const Shard&)>& make);

/// `solve<Part>(problem, context, steps, execution)` where the part is made from (problem, context, shard).
template <class P, class Problem>
std::unique_ptr<Prepared> solve(const Problem& problem, const Context& context, std::int64_t steps,
                                Execution execution) {
  return solve(problem, context, steps, execution,
               [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

}  // namespace league
