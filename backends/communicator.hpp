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
#include "backends/portable.hpp"
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

/// Order of additions. `ordered`: by global shard index, which gives the same bits for the same number of shards, with
/// any engine and number of processes. `any`: the engine's choice.
enum class Order { ordered, any };

/// Bytes from one shard to another, by global index. Only pointers of local shards are used.
struct Transfer {
  int from = 0, to = 0;
  const void* source = nullptr;
  void* target = nullptr;
  std::int64_t bytes = 0;
};

/// For a kernel that publishes and polls stamped words itself (backends/cuda/wait.hpp): the receive slots on the
/// devices of all shards, each [low and high half x 2 x shards x capacity] by parity of the stamp, sender and value.
/// Stamps start at 1 and continue across launches. (Small: Kokkos cannot record kernels with many bytes of arguments.)
struct DeviceView {
  static constexpr int max_shards = 16;
  unsigned long long* words[max_shards] = {};  ///< by shard
  int shards = 0, self = 0;
  std::int64_t capacity = 0;  ///< values of 8 bytes
  unsigned* count = nullptr;  ///< the last stamp that kernels have used, on the own device; 0 before the first

  [[nodiscard]] LEAGUE_FUNCTION std::int64_t high() const { return 2 * shards * capacity; }
  /// The low half of what `sender` sends, from value 0 on.
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t from(int sender, unsigned stamp) const {
    return ((stamp & 1U) * shards + sender) * capacity;
  }
};

/// All communication between shards. Every call takes one buffer per local shard, in shard order. It is one group of
/// operations on queue `queue` of the shards' devices, can be recorded into a graph, and does not synchronise with the
/// host. Buffers are split between shards by `piece_of`. Calls on different queues are independent.
class Communicator {
 public:
  /// Queues per device for calls: 0, and 1 for concurrent communication.
  static constexpr int queue_count = 2;

  virtual ~Communicator() = default;
  /// Reserves memory on a queue for all-reduces and reduce-scatters of buffers of up to `bytes`. With order `any` it
  /// may reserve less, sufficient for that order only. Growing invalidates earlier recordings and device views.
  virtual void reserve(std::int64_t /*bytes*/, Order /*order*/ = Order::ordered, int /*queue*/ = 0) {}
  /// In-place elementwise sum over all shards, in every buffer: f32, f64, i32, i64. Buffers have equal lengths.
  /// @pre reserved
  virtual void all_reduce(std::span<const Buffer> buffers, Order order, int queue = 0) = 0;
  /// As `all_reduce`, but a shard gets only its own piece of the sum; the rest of its buffer is undefined.
  virtual void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue = 0) = 0;
  /// In place: every shard starts with its own piece in its buffer, and ends with all pieces. Buffers have equal
  /// lengths.
  virtual void all_gather(std::span<const Buffer> buffers, int queue = 0) = 0;
  /// Concatenates the pieces, whose lengths may differ, into `whole` on the device of shard 0.
  /// @pre `whole` is as long as all pieces together; processes without shard 0 pass an empty one
  virtual void gather(std::span<const Buffer> pieces, Buffer whole, int queue = 0) = 0;
  /// Copies shard 0's values to every buffer. Buffers have equal lengths.
  virtual void broadcast(std::span<const Buffer> buffers, int queue = 0) = 0;
  /// Point-to-point transfers (halos) from or to local shards. A target is overwritten only after earlier work on its
  /// shard's queue; later work on a queue waits until its sources have been read.
  /// @pre no target overlaps another target or a source
  virtual void exchange(std::span<const Transfer> transfers, int queue = 0) = 0;
  /// For a kernel on local shard `local` that communicates itself; empty if the engine has no such support.
  [[nodiscard]] virtual std::optional<DeviceView> device_view(std::size_t /*local*/) { return {}; }
  /// For an engine that forwards calls: the names of the engines that were used; else empty.
  [[nodiscard]] virtual std::vector<std::string> taken() const { return {}; }
};

/// Bookkeeping of reservations, for engines.
class Room {
 public:
  /// @returns whether the reservation has grown
  bool grow(std::int64_t bytes, Order order, int queue);
  /// Checks the reservation for these buffers, one per local shard. @throws std::logic_error if there is none, or if
  /// they differ in size or type
  void require(std::span<const Buffer> buffers, std::size_t local, Order order, int queue) const;

 private:
  std::int64_t bytes_[Communicator::queue_count][2] = {};
};

/// Checks one buffer per local shard. @throws std::logic_error if they differ in number, size or type
void require_alike(std::span<const Buffer> buffers, std::size_t local);

/// Calls `body.operator()<T>()` with a type that can be summed.
template <class Body>
void with_sum_type(Dtype type, const Body& body) {
  if (type == Dtype::f32) return body.template operator()<float>();
  if (type == Dtype::f64) return body.template operator()<double>();
  if (type == Dtype::i32) return body.template operator()<std::int32_t>();
  if (type == Dtype::i64) return body.template operator()<std::int64_t>();
  throw std::logic_error("no sums of " + std::string(name(type)));
}

using CommunicatorFactory = std::unique_ptr<Communicator> (*)(Runtime&, std::span<const Shard>, const Partition&);

/// Registers an engine for a kind of device; without a factory only its name, for builds that lack it.
struct RegisterEngine {
  RegisterEngine(std::string name, DeviceKind kind, CommunicatorFactory make = nullptr);
};
/// Names of the engines of all builds, each once.
std::vector<std::string> engine_names();
/// The engines of this build between devices of a kind.
std::vector<std::string> engine_names(DeviceKind kind);

/// Engines: "local" within a process (host devices; GPUs through peer access), always ordered; "local_serialized", the
/// same between GPUs without kernels that poll each other; "nccl" between CUDA devices, "mpi" over
/// ranks; "auto", the fastest of these by the size of each call. A single shard gets an engine that does nothing.
/// @throws Unsupported if this build has no such engine for these devices, or they cannot reach each other
std::unique_ptr<Communicator> make_communicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world,
                                                std::string_view engine = "local");

/// For an engine within one process. @throws Unsupported if there are shards of other processes
void require_one_process(const Partition& world, std::string_view engine);

}  // namespace league
