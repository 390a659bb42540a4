// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "backends/runtime.hpp"

namespace league {

/// The only way between shards. Every call takes one buffer a local shard, in shard order, in the memory of the shard's
/// device; it is one group, queued on the shards' own queues, and can be recorded into a graph. Nothing waits for the
/// host.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// Makes room for sums of up to `size` values; what was recorded before with less room cannot be launched any more.
  virtual void reserve(std::int64_t) {}
  /// Adds elementwise over all shards and leaves the sum in every buffer. All are of the same length.
  /// @pre there is room for it
  virtual void sum(std::span<const std::span<double>> buffers) = 0;
  /// Puts the pieces one after another into `whole`, which lies on the first shard's device.
  /// @pre `whole` is as long as all pieces together
  virtual void gather(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> whole) = 0;
};

using CommunicatorFactory = std::unique_ptr<Communicator> (*)(Runtime&, std::span<const Shard>);

/// Makes an engine known for a kind of device.
struct RegisterEngine {
  RegisterEngine(std::string name, DeviceKind kind, CommunicatorFactory make);
};

/// Engines: "local" within a process (host devices; GPUs through peer access), always in shard order and therefore
/// bit-reproducible; "local_serialized", the same between GPUs without kernels that wait for each other; "nccl" between
/// CUDA devices. One shard needs none and gets one that does nothing.
/// @throws Unsupported if this build has no such engine for these devices, or they cannot reach each other
std::unique_ptr<Communicator> make_communicator(Runtime& runtime, std::span<const Shard> shards,
                                                std::string_view engine = "local");

}  // namespace league
