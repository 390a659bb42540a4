// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/contract/problem.hpp"
#include "backends/communicator.hpp"
#include "backends/runtime.hpp"

/// A variant on a problem: the interface to the harness.
namespace league {

/// How the kernels of a solve are launched: one by one, recorded into a graph that is launched whole, or through
/// Kokkos' own graph API.
enum class Execution { stream, graph, kokkos_graph };
std::string_view name(Execution execution);

/// The arguments of a variant's preparation; they outlive it.
struct Context {
  Runtime& runtime;
  std::span<const Shard> shards;  ///< of this process
  const Partition& world;         ///< the shards of all processes
  Communicator& communicator;
  Outputs& outputs;                  ///< for results; variants that copy out while they compute write here directly
  std::int64_t memory_budget_bytes;  ///< per device
  Execution execution = Execution::stream;
  bool dry = false;  ///< only `configure` and `device_bytes` are called: nothing is allocated or recorded
};

/// Stages of one compute on the shards' queues. Only a traced pass times them; all passes name them for profilers.
class Stages {
 public:
  virtual ~Stages() = default;

  /// A stage: the work submitted to `queue` during its lifetime.
  class Scope {
   public:
    Scope(Stages& stages, Queue& queue, const char* name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Stages& stages_;
    Queue& queue_;
    const char* name_;
  };
  [[nodiscard]] Scope scope(Queue& queue, const char* name) { return {*this, queue, name}; }
  /// Runs `body`, which submits work to `queue`, as stage `name`.
  template <class Body>
  void stage(Queue& queue, const char* name, const Body& body) {
    const Scope stage = scope(queue, name);
    body();
  }
  /// In a traced pass, work that usually overlaps runs as one stage after another, so that each has its own time.
  [[nodiscard]] virtual bool traced() const { return false; }
  /// Nothing is recorded: several threads may have stages at once.
  [[nodiscard]] virtual bool unmarked() const { return !traced(); }

 protected:
  virtual void begin(Queue&, const char*) {}
  virtual void end(Queue&, const char*) {}
};

/// Exceptions to the default timing (a batch of computes on the device clock).
struct Timing {
  bool reset_each = false;  ///< a compute destroys its initial state: reset before each, one per sample
  bool host_clock = false;  ///< part of the work is not on the queue: from before the launch to after the fence
  bool host_feeds = false;  ///< the host loads input during a compute, with copies on the second queue: not held back
  int repeats = 1;          ///< times that a compute solves the problem; the mean of one is reported
};

/// Event counts of a compute, by name: {"candidates", 123456}. Counts of disjoint shards add up.
using Counts = std::map<std::string, std::int64_t>;

/// One variant on one problem, over all shards of this process. Owns its device memory.
class Prepared {
 public:
  virtual ~Prepared() = default;
  /// Untimed: sizes scratch, builds graphs; may be called again without a new upload. @returns the effective launch
  /// @throws Unsupported naming the limit that the launch exceeds
  virtual Launch configure(Launch launch) = 0;
  [[nodiscard]] virtual Timing timing() const { return {}; }
  /// Declared bytes of the device that needs the most; 0 if unknown.
  [[nodiscard]] virtual std::int64_t device_bytes() const { return 0; }
  /// Copies host inputs to the devices; asynchronous.
  virtual void upload() = 0;
  /// Untimed: sets the initial state, and poisons outputs (all bytes 0xff) on device and host.
  virtual void reset() = 0;
  /// As `reset`, but leaves the host's arrays of results as they are; asynchronous.
  virtual void poison() { reset(); }
  /// The timed operation; asynchronous.
  virtual void compute(Stages& stages) = 0;
  /// Copies results to the outputs of the context; asynchronous: call `fence` before reading them.
  virtual void download() = 0;
  /// Waits for this case's queues, no others.
  virtual void fence() = 0;
  /// Untimed: the same number for results with the same bits, computed where they lie. The numbers of disjoint shards
  /// add up. Empty where results are not in one place: they are downloaded and compared there.
  /// @pre fenced since the compute
  [[nodiscard]] virtual std::optional<std::uint64_t> digest() { return {}; }
  /// Overwrites some values of each input on the devices by other values of the same input (contract/altered.hpp);
  /// asynchronous, on the queues of the computes. @returns false, and changes nothing, where inputs lie elsewhere
  virtual bool alter(std::uint64_t /*draw*/) { return false; }
  /// Undoes `alter` of the same draw.
  virtual void restore(std::uint64_t /*draw*/) {}
  /// Untimed: the counts of the last compute on the shards of this process; may copy from the devices, synchronously.
  /// All processes return the same names. @pre fenced since that compute
  [[nodiscard]] virtual Counts counts() { return {}; }
};

}  // namespace league
