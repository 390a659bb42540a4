// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/solve.hpp"

#include <algorithm>

namespace league {
namespace {

/// Graphs are of this many steps: long enough to hide their launch, short enough to be built quickly.
constexpr std::int64_t steps_a_graph = 100;

class Solve final : public ShardParts<StepPart> {
 public:
  Solve(const Problem& problem, const Context& context, std::int64_t steps, Execution execution,
        const std::function<std::unique_ptr<StepPart>(const Shard&)>& make)
      : ShardParts(problem, context, make),
        runtime_(context.runtime),
        communicator_(context.communicator),
        steps_(steps),
        execution_(execution) {}

  Launch configure(Launch launch) override {
    graph_.reset(), rest_.reset();
    const Launch effective = ShardParts::configure(launch);
    communicator_.reserve(static_cast<std::int64_t>(parts().front()->sums().size()));
    if (execution_ == Execution::graph) {
      if (steps_ >= steps_a_graph) graph_ = record(steps_a_graph);
      if (steps_ % steps_a_graph != 0) rest_ = record(steps_ % steps_a_graph);
    }
    return effective;
  }

  void compute(Stages& stages) override {
    for (const auto& part : parts()) stages.stage(part->queue(), "begin", [&] { part->begin(); });
    if (execution_ == Execution::stepwise) {
      for (std::int64_t step = 0; step < steps_; ++step) take_step(stages);
    } else {
      on_all_queues(stages, "steps", 0, [this] {
        for (std::int64_t step = 0; step + steps_a_graph <= steps_; step += steps_a_graph) graph_->launch();
        if (rest_) rest_->launch();
      });
    }
  }

 private:
  void take_step(Stages& stages) {
    std::vector<std::span<double>> sums;
    for (const auto& part : parts()) {
      stages.stage(part->queue(), "accumulate", [&] { part->accumulate(); });
      sums.push_back(part->sums());
    }
    if (parts().size() > 1) on_all_queues(stages, "sum", 0, [&] { communicator_.sum(sums); });
    for (const auto& part : parts()) stages.stage(part->queue(), "update", [&] { part->update(); });
  }

  std::unique_ptr<Graph> record(std::int64_t steps) {
    std::vector<Queue*> queues;
    for (const auto& part : parts()) queues.push_back(&part->queue());
    fence();  // what `configure` has queued is not part of it
    return runtime_.record(queues, [this, steps] {
      Stages unmarked;
      for (std::int64_t step = 0; step < steps; ++step) take_step(unmarked);
    });
  }

  /// One stage on the queues of all shards from number `first` on.
  void on_all_queues(Stages& stages, const char* name, std::size_t first, const std::function<void()>& body) {
    if (first == parts().size()) return body();
    stages.stage(parts()[first]->queue(), name, [&] { on_all_queues(stages, name, first + 1, body); });
  }

  Runtime& runtime_;
  Communicator& communicator_;
  std::int64_t steps_;
  Execution execution_;
  std::unique_ptr<Graph> graph_, rest_;
};

}  // namespace

std::unique_ptr<Prepared> solve(const Problem& problem, const Context& context, std::int64_t steps, Execution execution,
                                const std::function<std::unique_ptr<StepPart>(const Shard&)>& make) {
  return std::make_unique<Solve>(problem, context, steps, execution, make);
}

}  // namespace league
