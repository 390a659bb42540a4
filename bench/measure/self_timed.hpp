// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "algorithms/contract/registry.hpp"
#include "bench/measure/end_to_end.hpp"

namespace league::bench {

/// A prepared case in another process that times its own computes, so that samples exclude the communication with it.
/// `warm`: right after an untimed compute, so that its threads are awake.
class SelfTimed {
 public:
  virtual ~SelfTimed() = default;
  /// Seconds of one compute, the mean over `count`: device time on a GPU, host time on a CPU.
  virtual double seconds(int count, bool warm) = 0;
  /// Seconds of one compute on the host's clock, launch to fence.
  virtual double latency_s(bool warm) = 0;
  /// Computes `count` times, back to back, and waits for the last.
  virtual void run(int count) = 0;
  /// As `Prepared::digest`, of the result of one compute on inputs that `draw` alters (0: as they were uploaded), from
  /// poisoned outputs or, `before` > 0, right after as many computes on the inputs as they were uploaded: as in a
  /// sample, without a pause before the alteration, so that nothing tells the last compute from those that are timed.
  /// Draw 0 then poisons the outputs between the two. The result is left for `download`, the inputs as they were
  /// uploaded.
  /// @returns empty where inputs cannot be altered in place
  virtual std::optional<std::uint64_t> inspect(int /*before*/, std::uint64_t /*draw*/) { return {}; }
  /// Shortest seconds of `pairs` computes, on the host's clock, each alone: "same", on the inputs of the compute
  /// before; "altered", on inputs that were altered just before. Empty where inputs cannot be altered in place.
  virtual std::map<std::string, double> paces(int /*pairs*/, std::uint64_t /*draw*/) { return {}; }
  /// Seconds of the stages of one more compute; empty where it has none.
  virtual std::map<std::string, double> stages() { return {}; }
  /// Seconds of "upload" and "download" alone, with arrays kept on both sides; empty where there are no such copies.
  virtual std::map<std::string, double> transfers() { return {}; }
  /// One pass from inputs to results in that kind of host memory. @throws Unsupported
  virtual Pass pass(const std::string& /*memory*/, PassState) { throw Unsupported("it has no end-to-end time"); }
  /// Whether the queue is held back while a batch is queued.
  [[nodiscard]] virtual bool holds() const = 0;
  /// Lets its process end, for which the destructor waits. @pre nothing else is called any more
  virtual void stop() = 0;
};

}  // namespace league::bench
