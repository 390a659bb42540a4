// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backends/array.hpp"
#include "backends/runtime.hpp"

namespace league {

/// Values in the memory of one shard's device.
struct Buffer {
  void* data = nullptr;
  std::int64_t size = 0;  ///< values
  Dtype type = Dtype::f64;
  [[nodiscard]] std::int64_t bytes() const { return size * static_cast<std::int64_t>(size_bytes(type)); }
};
template <class T>
Buffer buffer_of(T* data, std::int64_t size) {
  return {data, size, dtype_of<T>};
}

/// In which order sums are added. `ordered`: in the global order of the shards, which gives the same bits for the same
/// number of shards, whatever the engine and the processes. `any`: the engine's choice.
enum class Order { ordered, any };

/// Bytes from one shard to another, both by global number. Of each end only a local shard's pointer is looked at.
struct Transfer {
  int from = 0, to = 0;
  const void* source = nullptr;
  void* target = nullptr;
  std::int64_t bytes = 0;
};

/// What a kernel needs to publish and to await stamped words itself (backends/cuda/wait.hpp): the receive slots on the
/// devices of all shards, each [2 x shards x capacity] by parity of the stamp, sender and value. Stamps begin at 1 and
/// count on from one launch to the next.
struct DeviceView {
  static constexpr int max_shards = 16;
  struct Slots {
    unsigned long long *low = nullptr, *high = nullptr;
  };
  Slots slots[max_shards];  ///< by the number of the shard
  int shards = 0, self = 0;
  std::int64_t capacity = 0;  ///< values of 8 bytes
};

/// The only way between shards. Every call takes one buffer per local shard, in the order of the shards; it is one
/// group, put on queue `lane` of the shards' devices, and can be recorded into a graph. Nothing waits for the host.
/// What is split between shards is split as `piece_of` says. Calls on different lanes do not disturb one another.
class Communicator {
 public:
  /// Queues of a device that calls can be put on: lane 0, and lane 1 for what runs beside it.
  static constexpr int lanes = 2;

  virtual ~Communicator() = default;
  /// Makes room on a lane for all-reduces and reduce-scatters of buffers of up to `bytes`; `any` may take less memory
  /// and is then the only order that there is room for. What was recorded before with less room, and device views from
  /// before, cannot be used any more.
  virtual void reserve(std::int64_t /*bytes*/, Order /*order*/ = Order::ordered, int /*lane*/ = 0) {}
  /// Adds elementwise over all shards and leaves the sum in every buffer: f32, f64, i32, i64. All are of the same
  /// length.
  /// @pre there is room for it
  virtual void all_reduce(std::span<const Buffer> buffers, Order order, int lane = 0) = 0;
  /// As `all_reduce`, but a shard gets its own piece of the sum only; the rest of its buffer is undefined.
  virtual void reduce_scatter(std::span<const Buffer> buffers, Order order, int lane = 0) = 0;
  /// Every shard has its own piece in its buffer, and afterwards those of all. All are of the same length.
  virtual void all_gather(std::span<const Buffer> buffers, int lane = 0) = 0;
  /// Puts the pieces, whose lengths may differ, one after another into `whole`, on the device of shard 0.
  /// @pre `whole` is as long as all pieces together; processes without shard 0 give an empty one
  virtual void gather(std::span<const Buffer> pieces, Buffer whole, int lane = 0) = 0;
  /// Shard 0's values into every buffer. All are of the same length.
  virtual void broadcast(std::span<const Buffer> buffers, int lane = 0) = 0;
  /// All transfers that begin or end here: halos. A target is not overwritten before all that was on its shard's queue
  /// is done, nor does what comes next on a queue overwrite a source before it was read.
  /// @pre no target overlaps another target or a source
  virtual void exchange(std::span<const Transfer> transfers, int lane = 0) = 0;
  /// For a kernel on local shard number `local` that sends and receives itself; empty where the engine has none.
  [[nodiscard]] virtual std::optional<DeviceView> device_view(std::size_t /*local*/) { return {}; }
  /// Of an engine that leaves calls to others: the names of those that have got any; else empty.
  [[nodiscard]] virtual std::vector<std::string> taken() const { return {}; }
};

/// What was reserved: for engines, which ask it before they use room.
class Room {
 public:
  /// @returns whether that is more than there was
  bool grow(std::int64_t bytes, Order order, int lane);
  /// Of these buffers, one for each of `local` shards. @throws std::logic_error if there is none, or if they differ in
  /// size or type
  void require(std::span<const Buffer> buffers, std::size_t local, Order order, int lane) const;

 private:
  std::int64_t bytes_[Communicator::lanes][2] = {};
};

/// For calls that take one buffer per local shard. @throws std::logic_error if they differ in number, size or type
void require_alike(std::span<const Buffer> buffers, std::size_t local);

/// Calls `body.operator()<T>()` for the types that are added.
template <class Body>
void with_sum_type(Dtype type, const Body& body) {
  if (type == Dtype::f32) return body.template operator()<float>();
  if (type == Dtype::f64) return body.template operator()<double>();
  if (type == Dtype::i32) return body.template operator()<std::int32_t>();
  if (type == Dtype::i64) return body.template operator()<std::int64_t>();
  throw std::logic_error("no sums of " + std::string(name(type)));
}

using CommunicatorFactory = std::unique_ptr<Communicator> (*)(Runtime&, std::span<const Shard>, const Partition&);

/// Makes an engine known for a kind of device; without a factory its name only, for builds that lack it.
struct RegisterEngine {
  RegisterEngine(std::string name, DeviceKind kind, CommunicatorFactory make = nullptr);
};
/// Names of the engines of all builds, each once.
std::vector<std::string> engine_names();
/// Of those that this build has between devices of a kind.
std::vector<std::string> engine_names(DeviceKind kind);

/// Engines: "local" within a process (host devices; GPUs through peer access), always ordered; "local_serialized", the
/// same between GPUs without kernels that wait for each other; "nccl" between CUDA devices, "mpi" over
/// ranks; "auto", the fastest of these by the size of each call. One shard in the world needs none: it gets one that
/// does nothing.
/// @throws Unsupported if this build has no such engine for these devices, or they cannot reach each other
std::unique_ptr<Communicator> make_communicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world,
                                                std::string_view engine = "local");

/// For an engine that joins the shards of one process only. @throws Unsupported where there are others
void require_one_process(const Partition& world, std::string_view engine);

}  // namespace league
