// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/iterative.hpp"

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

class Solve final : public VariantShards<IterativeShard> {
 public:
  Solve(const Context& context, std::int64_t steps,
        const std::function<std::unique_ptr<IterativeShard>(const Shard&)>& make)
      : VariantShards(context, make), loop_(context, steps, [this](Stages& stages, int) { take_step(stages); }) {}

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    context().communicator.reserve(shards().front()->sums().bytes(), Order::any);
    connected_ = !context().world.alone() && connect();
    fence();  // work submitted by `configure` must not be recorded
    loop_.configure();
    return effective;
  }

  void compute(Stages& stages) override {
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "begin");
      shard->begin();
    }
    loop_.run(stages);
  }

 private:
  /// @returns whether the kernels add over all shards: variant and engine can, or cannot, on each alike
  bool connect() {
    for (std::size_t i = 0; i < shards().size(); ++i) {
      if (!shards()[i]->can_connect()) return false;
      const auto view = context().communicator.device_view(i);
      if (!view) return false;
      shards()[i]->connect(*view);
    }
    return true;
  }
  void take_step(Stages& stages) {
    std::vector<Buffer> sums;
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "accumulate");
      shard->accumulate();
      sums.push_back(shard->sums());
    }
    if (!context().world.alone() && !connected_) {
      const CommonStage stage(stages, loop_.queues(), "sum");
      context().communicator.all_reduce(sums, Order::any);
    }
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "update");
      shard->update();
    }
  }
  StepLoop loop_;
  bool connected_ = false;
};

}  // namespace

std::unique_ptr<Prepared> solve(const Context& context, std::int64_t steps,
                                const std::function<std::unique_ptr<IterativeShard>(const Shard&)>& make) {
  return std::make_unique<Solve>(context, steps, make);
}

void require_alone(const Context& context) {
  if (!context.world.alone())
    throw Unsupported("one kernel runs the whole solve: one device, not " + std::to_string(context.world.rows.size()));
}

}  // namespace league
