// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/variant_shard.hpp"

namespace league {

/// One variant of an iterative solve on the rows of one shard. Its state is on the device, replicated on every shard:
/// parameters, step counter, stop flag. A step after the stop changes nothing, so that the stop test needs no host. All
/// calls only submit work to the queue and must not change host state, since they are recorded into graphs.
class IterativeShard : public VariantShard {
 public:
  using VariantShard::VariantShard;
  /// Sets the initial state. Part of every compute, so that computes are repeatable.
  virtual void begin() const = 0;
  /// Computes this shard's contribution to the step's sums; zeros without rows.
  virtual void accumulate() const = 0;
  /// The sums of `accumulate`, on the device; the all-reduce is in place.
  [[nodiscard]] virtual Buffer sums() const = 0;
  /// Computes the next state from the sums of all shards.
  virtual void update() const = 0;
  /// The kernels of `accumulate` can add the sums of all shards themselves and take the step: from `connect` on.
  [[nodiscard]] virtual bool can_connect() const { return false; }
  virtual void connect(const DeviceView& /*view*/) {}
};

/// A solve of up to `steps` steps on all shards: in each, accumulate, all-reduce (unless the kernels do), update.
std::unique_ptr<Prepared> solve(const Context& context, std::int64_t steps,
                                const std::function<std::unique_ptr<IterativeShard>(const Shard&)>& make);

/// `solve<KokkosShard>(problem, context, steps)`, which makes `KokkosShard(problem, context, shard)` for each shard.
template <class P, class Problem>
std::unique_ptr<Prepared> solve(const Problem& problem, const Context& context, std::int64_t steps) {
  return solve(context, steps, [&](const Shard& shard) { return std::make_unique<P>(problem, context, shard); });
}

/// A solve of `problem.steps` steps: `make` chooses the class by the problem's type and shape.
template <class P>
struct RegisterSolve {
  using Make = std::unique_ptr<IterativeShard> (*)(const P&, const Context&, const Shard&);
  RegisterSolve(std::string method, WrittenModel model, Make make, std::vector<Execution> executions = recordable) {
    Register<P>(
        std::move(method), std::move(model),
        [make](const P& problem, const Context& context) {
          return solve(context, problem.steps, [&](const Shard& shard) { return make(problem, context, shard); });
        },
        std::move(executions));
  }
};

/// The whole solve in one step.
template <class P>
struct RegisterWholeSolve {
  using Make = typename RegisterSolve<P>::Make;
  RegisterWholeSolve(std::string method, WrittenModel model, Make make) {
    Register<P>(std::move(method), std::move(model), [make](const P& problem, const Context& context) {
      return solve(context, 1, [&](const Shard& shard) { return make(problem, context, shard); });
    });
  }
};

/// @throws Unsupported if there are several shards in the world
void require_alone(const Context& context);

}  // namespace league
