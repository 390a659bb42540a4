// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/training.hpp"

#include <algorithm>

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

class Training final : public VariantShards<TrainingShard> {
 public:
  Training(const Context& context, const Schedule& schedule,
           const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make)
      : VariantShards(context, make),
        schedule_(schedule),
        loop_(context, trains() ? schedule.steps - 1 : 1,
              [this](Stages& stages, int) { trains() ? take_step(stages) : evaluate(stages); }) {}

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    const TrainingShard& first = *shards().front();
    context().communicator.reserve(std::max(first.gradient().bytes(), first.correct().bytes()));
    fence();  // work submitted by `configure` must not be recorded
    loop_.configure();
    return effective;
  }

  void upload() override {
    VariantShards::upload();
    warm_ = schedule_.warm_up == 0;
  }
  void reset() override {
    VariantShards::reset();
    if (warm_) return;
    Stages unmarked;
    for (const auto& shard : shards()) shard->begin();
    for (std::int64_t step = 0; step < schedule_.warm_up; ++step) take_step(unmarked);
    for (const auto& shard : shards()) shard->keep_start();
    warm_ = true;
  }

  void compute(Stages& stages) override {
    for (const auto& shard : shards()) shard->begin();
    for (std::int64_t epoch = 0; epoch < schedule_.epochs; ++epoch) {
      loop_.run(stages);
      if (!trains()) return;
      if (epoch + 1 == schedule_.epochs) {
        for (const auto& shard : shards()) {
          const auto stage = stages.scope(shard->queue(), "keep");
          shard->keep_before();
        }
      }
      take_step(stages);
      if (schedule_.evaluates) evaluate(stages);
    }
  }

 private:
  [[nodiscard]] bool trains() const { return schedule_.steps > 0; }
  /// Ordered all-reduce: the same bits for the same number of shards.
  void add(Stages& stages, const char* name, Buffer (TrainingShard::*what)() const) {
    if (context().world.alone()) return;
    const CommonStage stage(stages, loop_.queues(), name);
    std::vector<Buffer> buffers;
    for (const auto& shard : shards()) buffers.push_back(((*shard).*what)());
    context().communicator.all_reduce(buffers, Order::ordered);
  }
  void take_step(Stages& stages) {
    for (const auto& shard : shards()) shard->differentiate(stages);
    add(stages, "sum", &TrainingShard::gradient);
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "update");
      shard->update();
    }
  }
  void evaluate(Stages& stages) {
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "test");
      shard->evaluate();
    }
    add(stages, "sum", &TrainingShard::correct);
    for (const auto& shard : shards()) shard->end_epoch();
  }

  Schedule schedule_;
  StepLoop loop_;
  bool warm_ = true;
};

}  // namespace

std::unique_ptr<Prepared> train(const Context& context, const Schedule& schedule,
                                const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make) {
  return std::make_unique<Training>(context, schedule, make);
}

}  // namespace league
