// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <memory>
#include <vector>

#include "backends/cuda/cuda.hpp"
#include "backends/mpi/collectives.hpp"

// The engine `mpi` between GPUs: buffers are staged through pinned host memory. A call synchronises with its queues and
// the other ranks, and cannot be recorded into a graph.
namespace league::cuda {
namespace {

class RankCommunicator final : public Communicator {
 public:
  RankCommunicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world)
      : memory_(runtime.host_memory()), collectives_(runtime.ranks(), world), first_(world.first_local) {
    for (int queue = 0; queue < queue_count; ++queue)
      for (const Shard& shard : shards) queues_[queue].push_back(&runtime.queue(shard.device, queue));
  }

  void reserve(std::int64_t bytes, Order order, int queue) override { room_.grow(bytes, order, queue); }
  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, collectives_.local(), order, queue);
    on_host(buffers, queue, [&](std::span<const Buffer> here) { collectives_.all_reduce(here, order); });
  }
  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, collectives_.local(), order, queue);
    on_host(buffers, queue, [&](std::span<const Buffer> here) { collectives_.reduce_scatter(here); });
  }
  void all_gather(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, collectives_.local());
    on_host(buffers, queue, [&](std::span<const Buffer> here) { collectives_.all_gather(here); });
  }
  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    const Staged from(*this, pieces, queue);
    std::vector<Buffer> wholes;
    if (whole.size > 0) wholes.push_back(whole);
    Staged to(*this, wholes, queue);
    collectives_.gather(from.host(), to.host().empty() ? Buffer{} : to.host().front());
    to.copy_back();
  }
  void broadcast(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, collectives_.local());
    on_host(buffers, queue, [&](std::span<const Buffer> here) { collectives_.broadcast(here); });
  }
  void exchange(std::span<const Transfer> transfers, int queue) override {
    std::vector<Buffer> sources, targets;
    const auto bytes = [](const void* data, std::int64_t size, bool here) {
      return Buffer{const_cast<void*>(data), here ? size : 0, Dtype::u8};
    };
    for (const Transfer& one : transfers) {
      sources.push_back(bytes(one.source, one.bytes, collectives_.is_local(one.from)));
      targets.push_back(bytes(one.target, one.bytes, collectives_.is_local(one.to)));
    }
    const auto number_from = [&](std::size_t i) { return transfers[i].from; };
    const auto number_to = [&](std::size_t i) { return transfers[i].to; };
    const Staged from(*this, sources, queue, number_from);
    Staged to(*this, targets, queue, number_to);
    std::vector<Transfer> staged;
    for (std::size_t i = 0; i < transfers.size(); ++i)
      staged.push_back(
          {transfers[i].from, transfers[i].to, from.host()[i].data, to.host()[i].data, transfers[i].bytes});
    collectives_.exchange(staged);
    to.copy_back();
  }

 private:
  /// Copies of device buffers in pinned memory, made by the constructor.
  class Staged {
   public:
    Staged(RankCommunicator& of, std::span<const Buffer> device, int queue)
        : Staged(of, device, queue, [&of](std::size_t i) { return of.first_ + static_cast<int>(i); }) {}
    /// `shard_of(i)`: the shard of buffer i.
    template <class ShardOf>
    Staged(RankCommunicator& of, std::span<const Buffer> device, int queue, const ShardOf& shard_of)
        : device_(device.begin(), device.end()), used_(of.used_[queue]) {
      for (std::size_t i = 0; i < device_.size(); ++i) {
        const Buffer& buffer = device_[i];
        const int own = shard_of(i) - of.first_;
        const bool here = own >= 0 && own < static_cast<int>(of.queues_[queue].size());
        queues_.push_back(of.queues_[queue][here ? static_cast<std::size_t>(own) : 0]);
        refuse_to_be_recorded(*queues_.back());
        host_.push_back({of.pinned(queue, buffer.bytes()), buffer.size, buffer.type});
      }
      copy(true);
    }
    [[nodiscard]] std::span<const Buffer> host() const { return host_; }
    void copy_back() { copy(false); }
    ~Staged() { used_ = 0; }
    Staged(const Staged&) = delete;
    Staged& operator=(const Staged&) = delete;

   private:
    void copy(bool to_host) const {
      for (std::size_t i = 0; i < device_.size(); ++i) {
        void* to = to_host ? host_[i].data : device_[i].data;
        const void* from = to_host ? device_[i].data : host_[i].data;
        if (device_[i].bytes() > 0)
          check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(device_[i].bytes()),
                                to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice, stream(*queues_[i])));
      }
      for (Queue* queue : queues_) queue->fence();
    }
    std::vector<Buffer> device_, host_;
    std::size_t& used_;
    std::vector<Queue*> queues_;
  };

  /// Pinned memory for this call; reused if large enough.
  void* pinned(int queue, std::int64_t bytes) {
    std::vector<HostArray>& kept = pinned_[queue];
    if (used_[queue] == kept.size()) kept.emplace_back(memory_, Dtype::u8, std::vector<std::int64_t>{0});
    HostArray& array = kept[used_[queue]++];
    if (array.size() < bytes) array = HostArray(memory_, Dtype::u8, {bytes});
    return array.bytes().data();
  }

  static void refuse_to_be_recorded(Queue& queue) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream(queue), &status));
    if (status != cudaStreamCaptureStatusNone)
      throw Unsupported("communicator 'mpi' between GPUs waits for the host: it cannot be recorded into a graph");
  }
  template <class Operation>
  void on_host(std::span<const Buffer> buffers, int queue, const Operation& operation) {
    Staged staged(*this, buffers, queue);
    operation(staged.host());
    staged.copy_back();
  }

  std::pmr::memory_resource& memory_;
  mpi::Collectives collectives_;
  int first_;
  std::vector<Queue*> queues_[queue_count];
  std::vector<HostArray> pinned_[queue_count];
  std::size_t used_[queue_count] = {};  ///< of them, by the current call
  Room room_;
};

const RegisterEngine engine{
    "mpi", DeviceKind::gpu,
    [](Runtime& runtime, std::span<const Shard> shards, const Partition& world) -> std::unique_ptr<Communicator> {
      return std::make_unique<RankCommunicator>(runtime, shards, world);
    }};

}  // namespace
}  // namespace league::cuda
