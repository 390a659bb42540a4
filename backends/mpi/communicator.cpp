// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <vector>

#include "backends/mpi/collectives.hpp"

// The engine `mpi` between host devices. Calls are blocking; a graph repeats the calls at launch.
namespace league::mpi {
namespace {

class HostCommunicator final : public Communicator {
 public:
  HostCommunicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world)
      : collectives_(runtime.ranks(), world) {
    for (int queue = 0; queue < queue_count; ++queue) queues_[queue] = &runtime.queue(shards.front().device, queue);
  }

  void reserve(std::int64_t bytes, Order order, int queue) override { room_.grow(bytes, order, queue); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, collectives_.local(), order, queue);
    submit(queue, buffers, [this, order](const auto& all) { collectives_.all_reduce(all, order); });
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, collectives_.local(), order, queue);
    submit(queue, buffers, [this](const auto& all) { collectives_.reduce_scatter(all); });
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, collectives_.local());
    submit(queue, buffers, [this](const auto& all) { collectives_.all_gather(all); });
  }
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    submit(queue, pieces, [this, whole](const auto& all) { collectives_.gather(all, whole); });
  }
  void broadcast(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, collectives_.local());
    submit(queue, buffers, [this](const auto& all) { collectives_.broadcast(all); });
  }
  void exchange(std::span<const Transfer> transfers, int queue) override {
    submit(queue, transfers, [this](const auto& all) { collectives_.exchange(all); });
  }

 private:
  template <class T, class Operation>
  void submit(int queue, std::span<const T> what, const Operation& operation) {
    queues_[queue]->submit([all = std::vector(what.begin(), what.end()), operation] { operation(all); });
  }
  Collectives collectives_;
  Queue* queues_[queue_count] = {};
  Room room_;
};

const RegisterEngine engine{
    "mpi", DeviceKind::host,
    [](Runtime& runtime, std::span<const Shard> shards, const Partition& world) -> std::unique_ptr<Communicator> {
      return std::make_unique<HostCommunicator>(runtime, shards, world);
    }};

}  // namespace
}  // namespace league::mpi
