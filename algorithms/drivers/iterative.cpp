// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/iterative.hpp"

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

class Solve final : public ShardParts<StepPart> {
 public:
  Solve(const Context& context, std::int64_t steps, const std::function<std::unique_ptr<StepPart>(const Shard&)>& make)
      : ShardParts(context, make), loop_(context, steps, [this](Stages& stages, int) { take_step(stages); }) {}

  Launch configure(Launch launch) override {
    const Launch effective = ShardParts::configure(launch);
    if (context().dry) return effective;
    context().communicator.reserve(parts().front()->sums().bytes(), Order::any);
    fence();  // work submitted by `configure` must not be recorded
    loop_.configure();
    return effective;
  }

  void compute(Stages& stages) override {
    for (const auto& part : parts()) {
      const auto stage = stages.scope(part->queue(), "begin");
      part->begin();
    }
    loop_.run(stages);
  }

 private:
  void take_step(Stages& stages) {
    std::vector<Buffer> sums;
    for (const auto& part : parts()) {
      const auto stage = stages.scope(part->queue(), "accumulate");
      part->accumulate();
      sums.push_back(part->sums());
    }
    if (!context().world.alone()) {
      const CommonStage stage(stages, loop_.queues(), "sum");
      context().communicator.all_reduce(sums, Order::any);
    }
    for (const auto& part : parts()) {
      const auto stage = stages.scope(part->queue(), "update");
      part->update();
    }
  }
  StepLoop loop_;
};

}  // namespace

std::unique_ptr<Prepared> solve(const Context& context, std::int64_t steps,
                                const std::function<std::unique_ptr<StepPart>(const Shard&)>& make) {
  return std::make_unique<Solve>(context, steps, make);
}

void require_alone(const Context& context) {
  if (!context.world.alone())
    throw Unsupported("one kernel runs the whole solve: one device, not " + std::to_string(context.world.rows.size()));
}

}  // namespace league
