// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/contract/prepared.hpp"

namespace league {

/// A stage on several queues together.
class CommonStage {
 public:
  CommonStage(Stages& stages, std::span<Queue* const> queues, const char* name) {
    for (Queue* queue : queues) scopes_.emplace_back(stages, *queue, name);
  }

 private:
  std::deque<Stages::Scope> scopes_;
};

/// Takes the steps of a solve: one by one, or recorded into graphs.
class StepLoop {
 public:
  /// Puts one step on the queues of all shards. `phase`: the number of the step modulo the period, all that a step may
  /// know of its number on the host; the number itself is on the devices.
  using TakeStep = std::function<void(Stages&, int phase)>;

  /// `period`: 2 where a step reads what the one before has written, and writes where that has read.
  StepLoop(const Context& context, std::int64_t steps, TakeStep take_step, int period = 1);
  /// Records the graphs, where the execution has any. @pre all queues were fenced
  void configure();
  /// All steps, on the queues.
  void run(Stages& stages);
  /// Of all shards of this process.
  [[nodiscard]] std::span<Queue* const> queues() const { return queues_; }

 private:
  std::unique_ptr<Graph> record(std::int64_t steps);
  void launch_graphs();

  Runtime& runtime_;
  std::vector<Queue*> queues_;
  std::int64_t steps_, steps_per_graph_;
  Execution execution_;
  TakeStep take_step_;
  int period_;
  std::unique_ptr<Graph> graph_, rest_;
};

}  // namespace league
