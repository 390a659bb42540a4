// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/training.hpp"

#include <algorithm>

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

/// Parts of the gradient are added on this queue of a shard's device, concurrently with the backward pass.
constexpr int second_queue = 1;

class Training final : public VariantShards<TrainingShard> {
 public:
  Training(const Context& context, const Schedule& schedule,
           const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make)
      : VariantShards(context, make),
        schedule_(schedule),
        loop_(context, trains() ? schedule.steps - 1 : 1,
              [this](Stages& stages, int) { trains() ? take_step(stages) : evaluate(stages); }) {
    for (const auto& shard : shards()) beside_.push_back(&beside(*shard));
  }

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    const TrainingShard& first = *shards().front();
    context().communicator.reserve(first.correct().bytes());
    for (int phase = 0; phase < TrainingShard::phases; ++phase)
      for (const GradientPiece& piece : first.pieces(phase))
        context().communicator.reserve(piece.gradient.bytes(), Order::ordered, queue_of(phase));
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

  void download() override {
    if (!context().world.alone())
      for (std::size_t i = 0; i < shards().front()->sharded_results().size(); ++i)
        context().communicator.all_gather(buffers([i](const TrainingShard& of) { return of.sharded_results()[i]; }));
    VariantShards::download();
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
  [[nodiscard]] static Queue& beside(const TrainingShard& shard) {
    return shard.runtime().queue(shard.queue().device(), second_queue);
  }
  /// The queue of the communication after a phase: nothing is left to overlap with the last one's.
  static int queue_of(int phase) { return phase + 1 < TrainingShard::phases ? second_queue : 0; }
  template <class Of>
  [[nodiscard]] std::vector<Buffer> buffers(const Of& of) const {
    std::vector<Buffer> all;
    for (const auto& shard : shards()) all.push_back(of(*shard));
    return all;
  }
  void take_step(Stages& stages) {
    for (int phase = 0; phase < TrainingShard::phases; ++phase) {
      for (const auto& shard : shards()) shard->differentiate(stages, phase);
      if (!context().world.alone()) add_gradients(stages, phase);
    }
    for (const auto& shard : shards()) {
      if (!context().world.alone()) shard->queue().wait_for(beside(*shard));
      const auto stage = stages.scope(shard->queue(), "update");
      shard->update();
    }
  }
  /// Adds what a phase has completed. In a traced pass the next phase waits for it.
  void add_gradients(Stages& stages, int phase) {
    const int queue = queue_of(phase);
    const bool waits = queue != 0 && stages.traced();
    for (const auto& shard : shards())
      if (queue != 0) beside(*shard).wait_for(shard->queue());
    const std::span<Queue* const> queues = queue != 0 && !waits ? std::span<Queue* const>(beside_) : loop_.queues();
    const auto as_stage = [&](const char* name, const auto& body) {
      const CommonStage stage(stages, queues, name);
      body();
      for (const auto& shard : shards())
        if (waits) shard->queue().wait_for(beside(*shard));
    };
    for (std::size_t i = 0; i < shards().front()->pieces(phase).size(); ++i) {
      const auto gradients = buffers([&](const TrainingShard& of) { return of.pieces(phase)[i].gradient; });
      if (!shards().front()->pieces(phase)[i].is_sharded()) {
        as_stage("sum", [&] { context().communicator.all_reduce(gradients, Order::ordered, queue); });
        continue;
      }
      as_stage("sum", [&] { context().communicator.reduce_scatter(gradients, Order::ordered, queue); });
      as_stage("own update", [&] {
        for (const auto& shard : shards()) shard->update_own(shard->runtime().queue(shard->queue().device(), queue));
      });
      const auto parameters = buffers([&](const TrainingShard& of) { return of.pieces(phase)[i].parameters; });
      as_stage("gather", [&] { context().communicator.all_gather(parameters, queue); });
    }
  }
  void evaluate(Stages& stages) {
    for (const auto& shard : shards()) {
      const auto stage = stages.scope(shard->queue(), "test");
      shard->evaluate();
    }
    if (!context().world.alone()) {
      const CommonStage stage(stages, loop_.queues(), "sum");
      const auto counts = buffers([](const TrainingShard& of) { return of.correct(); });
      context().communicator.all_reduce(counts, Order::ordered);
    }
    for (const auto& shard : shards()) shard->end_epoch();
  }

  Schedule schedule_;
  std::vector<Queue*> beside_;  ///< the second queues of all shards
  StepLoop loop_;
  bool warm_ = true;
};

}  // namespace

std::unique_ptr<Prepared> train(const Context& context, const Schedule& schedule,
                                const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make) {
  return std::make_unique<Training>(context, schedule, make);
}

}  // namespace league
