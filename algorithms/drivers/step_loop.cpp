// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/step_loop.hpp"

namespace league {
namespace {

/// Long enough to amortise a graph launch, short enough to be recorded quickly.
constexpr std::int64_t usual_steps_per_graph = 100;

}  // namespace

StepLoop::StepLoop(const Context& context, std::int64_t steps, TakeStep take_step, int period)
    : runtime_(context.runtime),
      steps_(steps),
      steps_per_graph_((usual_steps_per_graph + period - 1) / period * period),
      execution_(context.execution),
      take_step_(std::move(take_step)),
      period_(period) {
  for (const Shard& shard : context.shards) queues_.push_back(&context.runtime.queue(shard.device));
}

void StepLoop::configure() {
  graph_.reset(), rest_.reset();
  if (execution_ != Execution::graph) return;
  if (steps_ >= steps_per_graph_) graph_ = record(steps_per_graph_);
  if (steps_ % steps_per_graph_ != 0) rest_ = record(steps_ % steps_per_graph_);
}

void StepLoop::run(Stages& stages) {
  if (execution_ == Execution::graph) {
    const CommonStage stage(stages, queues_, "steps");
    return launch_graphs();
  }
  for (std::int64_t step = 0; step < steps_; ++step) take_step_(stages, static_cast<int>(step % period_));
}

void StepLoop::launch_graphs() {
  for (std::int64_t step = 0; step + steps_per_graph_ <= steps_; step += steps_per_graph_) graph_->launch();
  if (rest_) rest_->launch();
}

std::unique_ptr<Graph> StepLoop::record(std::int64_t steps) {
  return runtime_.record(queues_, [this, steps] {
    Stages unmarked;
    for (std::int64_t step = 0; step < steps; ++step) take_step_(unmarked, static_cast<int>(step % period_));
  });
}

}  // namespace league
