// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstring>
#include <vector>

#include "backends/host_collectives.hpp"

namespace league {
namespace host {
namespace {

void copy(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memmove(to, from, static_cast<std::size_t>(bytes));
}

/// Adds values [begin, end) over all buffers, and writes the sum to buffers `first` to `last`.
void add(std::span<const Buffer> buffers, Range values, std::size_t first, std::size_t last) {
  with_sum_type(buffers.front().type, [&]<class T>() {
    for (std::int64_t i = values.begin; i < values.end; ++i) {
      T sum = 0;
      for (const Buffer& buffer : buffers) sum += static_cast<const T*>(buffer.data)[i];
      for (std::size_t to = first; to <= last; ++to) static_cast<T*>(buffers[to].data)[i] = sum;
    }
  });
}

}  // namespace

void all_reduce(std::span<const Buffer> buffers) { add(buffers, {0, buffers.front().size}, 0, buffers.size() - 1); }

void reduce_scatter(std::span<const Buffer> buffers) {
  const int shards = static_cast<int>(buffers.size());
  for (int to = 0; to < shards; ++to) {
    const auto own = static_cast<std::size_t>(to);
    add(buffers, piece_of(buffers.front().size, shards, to), own, own);
  }
}

void all_gather(std::span<const Buffer> buffers) {
  const int shards = static_cast<int>(buffers.size());
  for (int from = 0; from < shards; ++from) {
    const Buffer& source = buffers[static_cast<std::size_t>(from)];
    const Range piece = piece_of(source.size, shards, from);
    const auto unit = static_cast<std::int64_t>(size_bytes(source.type));
    for (const Buffer& target : buffers)
      copy(static_cast<std::byte*>(target.data) + piece.begin * unit,
           static_cast<const std::byte*>(source.data) + piece.begin * unit, piece.size() * unit);
  }
}

void gather(std::span<const Buffer> pieces, const Buffer& whole) {
  auto* to = static_cast<std::byte*>(whole.data);
  for (const Buffer& piece : pieces) {
    copy(to, piece.data, piece.bytes());
    to += piece.bytes();
  }
}

void broadcast(std::span<const Buffer> buffers) {
  for (const Buffer& buffer : buffers) copy(buffer.data, buffers.front().data, buffer.bytes());
}

void exchange(std::span<const Transfer> transfers) {
  for (const Transfer& one : transfers) copy(one.target, one.source, one.bytes);
}

}  // namespace host

namespace {

/// Between the host devices of a process. These run one after another: all earlier work is done.
class HostCommunicator final : public Communicator {
 public:
  HostCommunicator(Runtime& runtime, std::span<const Shard> shards) : local_(shards.size()) {
    for (int queue = 0; queue < queue_count; ++queue) queues_[queue] = &runtime.queue(shards.front().device, queue);
  }

  void reserve(std::int64_t bytes, Order order, int queue) override { room_.grow(bytes, order, queue); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, local_, order, queue);
    submit(queue, buffers, host::all_reduce);
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, local_, order, queue);
    submit(queue, buffers, host::reduce_scatter);
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, local_);
    submit(queue, buffers, host::all_gather);
  }
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    submit(queue, pieces, [whole](std::span<const Buffer> all) { host::gather(all, whole); });
  }
  void broadcast(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, local_);
    submit(queue, buffers, host::broadcast);
  }
  void exchange(std::span<const Transfer> transfers, int queue) override { submit(queue, transfers, host::exchange); }

 private:
  template <class T, class Operation>
  void submit(int queue, std::span<const T> what, const Operation& operation) {
    queues_[queue]->submit([all = std::vector(what.begin(), what.end()), operation] { operation(all); });
  }
  std::size_t local_;
  Queue* queues_[queue_count] = {};
  Room room_;
};

const RegisterEngine local{
    "local", DeviceKind::host,
    [](Runtime& runtime, std::span<const Shard> shards, const Partition& world) -> std::unique_ptr<Communicator> {
      require_one_process(world, "local");
      return std::make_unique<HostCommunicator>(runtime, shards);
    }};

}  // namespace
}  // namespace league
