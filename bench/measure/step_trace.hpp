// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "algorithms/contract/prepared.hpp"

namespace league::bench {

/// What each shard does in one compute, in order: how long it computes, and which calls of the communicator it takes
/// part in. Written in the time-independent format of SimGrid's SMPI, one rank per shard: `0 compute 5200` is 5200 ns
/// on the device that was traced, so that a simulated host of 1 Gflop/s is that device; data are bytes (type 6).
class StepTrace final : public Stages {
 public:
  /// Wraps the communicator of the traced shards (all shards of the world): calls are recorded and forwarded to
  /// `engine`. Without a device view, so that kernels do not communicate themselves. @pre the trace outlives it
  std::unique_ptr<Communicator> follow(Runtime& runtime, std::span<const Shard> shards,
                                       std::unique_ptr<Communicator> engine);
  /// Discards what was traced so far. @pre all queues were fenced
  void start();
  /// Records a call: `call(shard)` is the action of each shard, empty for none. A stage that is open meanwhile counts
  /// as communication, not as computation.
  template <class Call>
  void communicate(const Call& call) {
    for (Lines& lines : lines_) {
      close_to_calls(lines);
      lines.actions.push_back({.text = call(lines.shard)});
    }
  }
  [[nodiscard]] int shards() const { return static_cast<int>(lines_.size()); }
  /// @pre all queues were fenced
  void write(std::ostream& out) const;
  [[nodiscard]] bool traced() const override { return true; }

 private:
  struct Action {
    std::string text{};  ///< of a call; empty for a stage
    const char* stage = nullptr;
    int begin = -1, end = -1;  ///< marks of a stage
    bool calls = false;        ///< a stage that is spent on a call
  };
  struct Lines {
    int shard;
    Queue* queue;
    std::vector<Action> actions{};
  };
  void begin(Queue& queue, const char* name) override;
  void end(Queue& queue, const char* name) override;
  Lines* of(const Queue& queue);
  static void close_to_calls(Lines& lines);

  std::vector<Lines> lines_;
};

}  // namespace league::bench
