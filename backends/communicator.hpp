// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <span>

#include "backends/runtime.hpp"

namespace league {

/// The only way between shards. Every call takes one buffer a local shard, in shard order, all of the same length,
/// and is queued on the shards' own queues; nothing waits for the host.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Sums elementwise over all shards, in shard order, and leaves the sum in every buffer: bit-reproducible.
  virtual void sum(std::span<const std::span<double>> buffers) = 0;
};

/// @throws Unsupported (from its calls) for devices between which this build cannot exchange data
std::unique_ptr<Communicator> local_communicator(Runtime& runtime, std::span<const Shard> shards);

}  // namespace league
