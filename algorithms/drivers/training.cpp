// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/training.hpp"

#include <algorithm>
#include <array>

#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

class Training final : public VariantShards<TrainingShard> {
 public:
  Training(const Context& context, const Schedule& schedule,
           const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make)
      : VariantShards(context, make),
        schedule_(schedule),
        second_queues_(second_queues()),
        loop_(context, trains() ? schedule.steps - 1 : 1,
              [this](Stages& stages, int) { trains() ? take_step(stages) : evaluate(stages); }) {}

  Launch configure(Launch launch) override {
    const Launch effective = VariantShards::configure(launch);
    if (context().dry) return effective;
    collect_sums();
    context().communicator.reserve(shards().front()->correct().bytes());
    for (int phase = 0; phase < TrainingShard::phases; ++phase)
      for (const Sum& sum : sums_[static_cast<std::size_t>(phase)])
        context().communicator.reserve(sum.gradients.front().bytes(), Order::ordered, queue_of(phase));
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
    begin({0, schedule_.warm_up}, unmarked);
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
    begin({schedule_.warm_up, schedule_.warm_up + schedule_.epochs * schedule_.steps}, stages);
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
  /// A piece of the gradient, of all shards of this process, and the parameters that a sharded optimizer gathers.
  struct Sum {
    std::vector<Buffer> gradients, parameters;
  };
  /// The queue of the communication after a phase: nothing is left to overlap with the last one's.
  static int queue_of(int phase) { return phase + 1 < TrainingShard::phases ? second_queue_index : 0; }
  template <class Of>
  [[nodiscard]] std::vector<Buffer> buffers(const Of& of) const {
    std::vector<Buffer> all;
    for (const auto& shard : shards()) all.push_back(of(*shard));
    return all;
  }
  void collect_sums() {
    for (int phase = 0; phase < TrainingShard::phases; ++phase) {
      std::vector<Sum>& sums = sums_[static_cast<std::size_t>(phase)];
      sums.clear();
      for (const auto& shard : shards()) {
        const std::vector<GradientPiece> pieces = shard->pieces(phase);
        sums.resize(pieces.size());
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          sums[i].gradients.push_back(pieces[i].gradient);
          if (pieces[i].parameters.size > 0) sums[i].parameters.push_back(pieces[i].parameters);
        }
      }
    }
  }
  void begin(Range steps, Stages& stages) {
    for (const auto& shard : shards()) shard->begin();
    for (const auto& shard : shards()) shard->start_input(steps, stages);
  }
  void take_step(Stages& stages) {
    for (const auto& shard : shards()) shard->take_input(stages);
    for (int phase = 0; phase < TrainingShard::phases; ++phase) {
      for (const auto& shard : shards()) shard->differentiate(stages, phase);
      if (!context().world.alone()) add_gradients(stages, phase);
    }
    for (const auto& shard : shards()) {
      if (!context().world.alone()) shard->queue().wait_for(shard->second_queue());
      const auto stage = stages.scope(shard->queue(), "update");
      shard->update();
    }
  }
  /// Adds what a phase has completed. In a traced pass the next phase waits for it.
  void add_gradients(Stages& stages, int phase) {
    const int queue = queue_of(phase);
    const bool beside = queue != 0, waits = beside && stages.traced();
    for (const auto& shard : shards())
      if (beside) shard->second_queue().wait_for(shard->queue());
    const std::span<Queue* const> queues = beside && !waits ? std::span<Queue* const>(second_queues_) : loop_.queues();
    const auto as_stage = [&](const char* name, const auto& body) {
      const CommonStage stage(stages, queues, name);
      body();
      for (const auto& shard : shards())
        if (waits) shard->queue().wait_for(shard->second_queue());
    };
    Communicator& communicator = context().communicator;
    for (const Sum& sum : sums_[static_cast<std::size_t>(phase)]) {
      if (sum.parameters.empty()) {
        as_stage("sum", [&] { communicator.all_reduce(sum.gradients, Order::ordered, queue); });
        continue;
      }
      as_stage("sum", [&] { communicator.reduce_scatter(sum.gradients, Order::ordered, queue); });
      as_stage("own update", [&] {
        for (const auto& shard : shards()) shard->update_own();
      });
      as_stage("gather", [&] { communicator.all_gather(sum.parameters, queue); });
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
  std::array<std::vector<Sum>, TrainingShard::phases> sums_;  ///< by phase
  std::vector<Queue*> second_queues_;
  StepLoop loop_;
  bool warm_ = true;
};

}  // namespace

std::unique_ptr<Prepared> train(const Context& context, const Schedule& schedule,
                                const std::function<std::unique_ptr<TrainingShard>(const Shard&)>& make) {
  return std::make_unique<Training>(context, schedule, make);
}

}  // namespace league
