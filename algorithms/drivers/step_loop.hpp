// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/contract/prepared.hpp"

namespace league {

/// One stage on several queues.
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
  /// Submits one step to the queues of all shards. `phase`: step index modulo the period, the only part of the index
  /// that may be used on the host; the full index is on the devices.
  using TakeStep = std::function<void(Stages&, int phase)>;

  /// `period`: 2 for double buffers that are swapped in each step.
  StepLoop(const Context& context, std::int64_t steps, TakeStep take_step, int period = 1);
  /// Records the graphs, if the execution is one of them. @pre all queues were fenced
  void configure();
  /// Submits all steps.
  void run(Stages& stages);
  /// The queues of all shards of this process.
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
