// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/auto_communicator.hpp"

#include <algorithm>
#include <array>

namespace league {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

/// Between more than two GPUs, calls up to this size go to the engine for few bytes. On four H200s `local` is faster
/// there, or at most 1.7 us slower, in graphs (algorithms/collectives/README.md). Gathers are not in that study: they
/// are exchanges in one direction.
constexpr struct {
  std::int64_t all_reduce = 16 * mib;
  std::int64_t reduce_scatter = 16 * mib;
  std::int64_t all_gather = 64 * mib;
  std::int64_t gather = 16 * mib;
  std::int64_t broadcast = 32 * kib;
  std::int64_t exchange = 16 * mib;
} max_bytes;

/// Engines, fastest first; the first that connects the shards is used.
constexpr std::array for_few{"local", "nccl", "mpi"};
constexpr std::array for_many{"nccl", "local", "mpi"};

std::int64_t bytes_of(std::span<const Buffer> buffers) { return buffers.empty() ? 0 : buffers.front().bytes(); }

/// @throws Unsupported with the reasons of all, if none of `names` connects these shards
AutoCommunicator::Choice first_of(std::span<const char* const> names, Runtime& runtime, std::span<const Shard> shards,
                                  const Partition& world) {
  std::string reasons;
  for (const char* name : names) {
    try {
      return {name, make_communicator(runtime, shards, world, name)};
    } catch (const Unsupported& reason) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(reason.what());
    }
  }
  throw Unsupported(reasons);
}

const RegisterEngine host_auto{"auto", DeviceKind::host, make_auto_communicator};

}  // namespace

/// The reservation must also hold for sums shorter than the longest, on either engine.
void AutoCommunicator::reserve(std::int64_t bytes, Order order, int queue) {
  if (!many_.engine) return few_.engine->reserve(bytes, order, queue);
  const auto [low, high] = std::minmax({max_bytes.all_reduce, max_bytes.reduce_scatter});
  few_.engine->reserve(std::min(bytes, high), order, queue);
  if (bytes > low) many_.engine->reserve(bytes, order, queue);
}

void AutoCommunicator::all_reduce(std::span<const Buffer> buffers, Order order, int queue) {
  take(bytes_of(buffers), max_bytes.all_reduce).all_reduce(buffers, order, queue);
}

void AutoCommunicator::reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) {
  take(bytes_of(buffers), max_bytes.reduce_scatter).reduce_scatter(buffers, order, queue);
}

void AutoCommunicator::all_gather(std::span<const Buffer> buffers, int queue) {
  take(bytes_of(buffers), max_bytes.all_gather).all_gather(buffers, queue);
}

void AutoCommunicator::gather(std::span<const Buffer> pieces, Buffer whole, int queue) {
  std::int64_t bytes = 0;
  for (const Buffer& piece : pieces) bytes += piece.bytes();
  take(bytes, max_bytes.gather).gather(pieces, whole, queue);
}

void AutoCommunicator::broadcast(std::span<const Buffer> buffers, int queue) {
  take(bytes_of(buffers), max_bytes.broadcast).broadcast(buffers, queue);
}

void AutoCommunicator::exchange(std::span<const Transfer> transfers, int queue) {
  std::int64_t longest = 0;
  for (const Transfer& one : transfers) longest = std::max(longest, one.bytes);
  take(longest, max_bytes.exchange).exchange(transfers, queue);
}

std::optional<DeviceView> AutoCommunicator::device_view(std::size_t local) { return take(0, 0).device_view(local); }

std::vector<std::string> AutoCommunicator::taken() const {
  std::vector<std::string> names;
  for (const Choice* one : {&few_, &many_})
    if (one->taken) names.push_back(one->name);
  return names;
}

Communicator& AutoCommunicator::take(std::int64_t bytes, std::int64_t limit) {
  Choice& choice = bytes <= limit || !many_.engine ? few_ : many_;
  choice.taken = true;
  return *choice.engine;
}

std::unique_ptr<Communicator> make_auto_communicator(Runtime& runtime, std::span<const Shard> shards,
                                                     const Partition& world) {
  AutoCommunicator::Choice few = first_of(for_few, runtime, shards, world);
  AutoCommunicator::Choice many = first_of(for_many, runtime, shards, world);
  // Between two GPUs `local` was the faster at nearly every size (algorithms/collectives/README.md).
  if (many.name == few.name || (few.name == "local" && world.rows.size() == 2)) many = {};
  return std::make_unique<AutoCommunicator>(std::move(few), std::move(many));
}

}  // namespace league
