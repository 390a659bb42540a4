// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/array.hpp"
#include "backends/communicator.hpp"
#include "backends/runtime.hpp"

/// The contract between an algorithm and the harness.
namespace league {

/// A named host array of results or inputs. `rows` says which global rows it holds, where its rows are split.
struct Output {
  std::string name;
  HostArray values;
  Range rows;
  std::string form{};  ///< how it was computed, where the error bound depends on it ("expanded"); empty: by the formula
};
using Outputs = std::vector<Output>;

/// Bytes and operations that the *problem* needs at least: each input read once, each output written once.
struct Cost {
  double bytes = 0;
  double operations = 0;
  std::string best_unit{};  ///< the fastest unit that solves it as exactly: "u8 tensor"; empty: that of the type
};

/// What a check found. Verdicts of disjoint rows combine with `+=`.
struct Verdict {
  std::int64_t rows_checked = 0;
  double worst = 0;        ///< largest error over its bound; above 1 is wrong
  std::int64_t ties = 0;   ///< rows that differ from the oracle where the bounds allow it
  std::string message{};   ///< the first thing wrong: which value, what was expected; empty if all is right
  bool ill_posed = false;  ///< the oracle itself diverges or finds no solution: no result could have passed
  std::vector<std::pair<std::string, double>> figures{};  ///< what a reader wants to know: {"accuracy", 0.9722}

  [[nodiscard]] bool passed() const { return message.empty() && worst <= 1; }
  void fail(std::string what) {
    if (message.empty()) message = std::move(what);
  }
  /// Fails because of the problem, not of the result.
  void fail_problem(std::string what) {
    ill_posed = ill_posed || passed();
    fail(std::move(what));
  }
  Verdict& operator+=(const Verdict& other);
};

/// All that is needed to make the inputs and to judge a result.
class Problem {
 public:
  virtual ~Problem() = default;
  /// Rows that can be split over devices.
  [[nodiscard]] virtual std::int64_t extent() const = 0;
  /// Teams that a kernel can have work for: one a row, if teams do not share out more than rows.
  [[nodiscard]] virtual std::int64_t max_teams() const { return extent(); }
  [[nodiscard]] virtual Cost cost() const = 0;
  /// Host arrays for the results of all rows, in the types and shapes that `check` and `--save-results` expect.
  [[nodiscard]] virtual Outputs make_outputs(std::pmr::memory_resource& memory) const = 0;
  /// The inputs, for `--save-inputs`.
  [[nodiscard]] virtual Outputs inputs() const = 0;
  /// Against an oracle in double or exact integers, each value within its own bound.
  [[nodiscard]] virtual Verdict check(const Outputs& outputs) const = 0;
};

struct Parameters;

/// What a variant is prepared for.
struct Context {
  Runtime& runtime;
  std::span<const Shard> shards;
  Communicator& communicator;
  std::int64_t memory_budget_bytes;  ///< a device
  /// What the problem was made from, for a variant that does not know its class; null in a test of one that does.
  const Parameters* parameters = nullptr;
  Dtype dtype = Dtype::f32;
};

/// Stages of one compute on the shards' queues. Only a traced pass times them; all passes name them for profilers.
class Stages {
 public:
  virtual ~Stages() = default;
  /// Runs `body`, which queues work on `queue`, as stage `name`.
  void stage(Queue& queue, const char* name, const std::function<void()>& body);
  /// In a traced pass, work that usually overlaps runs as one stage after another, so that each has its own time.
  [[nodiscard]] virtual bool traced() const { return false; }

 protected:
  virtual void begin(Queue&, const char*) {}
  virtual void end(Queue&, const char*) {}
};

/// How a case wants to be timed, where the usual batch of computes on the device clock would not be right.
struct Timing {
  bool reset_each = false;  ///< a compute uses up its initial state or residency: reset before each, one a sample
  bool host_clock = false;  ///< the work is not all on the queue: timed from before the launch to after the fence
};

/// Times the computes of a variant that lives in another process, where they run: talking to it is never in a sample.
/// `warm`: right after a compute that does not count, so that its threads are awake.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds of one compute, the mean over `count`: device time on a GPU, host time on a CPU.
  virtual double seconds(int count, bool warm) = 0;
  /// Seconds of one compute on the host's clock, launch to fence.
  virtual double latency_s(bool warm) = 0;
  /// Whether the queue is held back while a batch is queued.
  [[nodiscard]] virtual bool holds() const = 0;
};

/// One variant on one problem, over all its shards. Owns its device memory.
class Prepared {
 public:
  virtual ~Prepared() = default;
  /// Untimed: sizes scratch, builds graphs; may be called again without a new upload. @returns the effective launch
  /// @throws Unsupported naming the limit that the launch exceeds
  virtual Launch configure(Launch launch) = 0;
  [[nodiscard]] virtual Timing timing() const { return {}; }
  /// Null: the harness times `compute`.
  [[nodiscard]] virtual Clock* clock() { return nullptr; }
  /// Host inputs to the devices; asynchronous.
  virtual void upload() = 0;
  /// Untimed: initial state, and outputs poisoned (all bytes 0xff) on device and host.
  virtual void reset() = 0;
  /// The timed operation; asynchronous.
  virtual void compute(Stages& stages) = 0;
  /// Results to the host; asynchronous: call `fence` before reading them.
  virtual const Outputs& download() = 0;
  /// Waits for this case's queues, no others.
  virtual void fence() = 0;
};

}  // namespace league
