// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>
#include <vector>

#include "backends/auto_communicator.hpp"
#include "backends/communicator.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/slots.hpp"
#include "backends/cuda/sums.hpp"

// The local engine, between GPUs with peer access.
//
// Few values: one kernel per device writes its values into the receive slots of all devices, as words stamped with the
// number of the all-reduce, polls its own slots until all have arrived, and adds them. Many values: each device owns a
// piece, reads it from the buffers of all, and writes the sum to all, with events before and after as barriers. Both
// add in shard order.
//
// `local_serialized` adds few values in two kernels ordered by events: no kernel polls another, so that profilers and
// sanitizers can serialise and replay them.
namespace league::cuda {
namespace {

/// Maximum values of a sum sent as stamped words (256 KiB of doubles). All blocks of such a sum must be resident at
/// once, together with those on the other queue.
constexpr std::int64_t max_stamped = 32 * 1024;

/// One queue of every shard, each with an event.
class EventQueues {
 public:
  EventQueues(Runtime& runtime, std::span<const Shard> shards, int queue) {
    for (const Shard& shard : shards) {
      queues_.push_back(&runtime.queue(shard.device, queue));
      stream(*queues_.back());
      check(cudaEventCreateWithFlags(&done_.emplace_back(), cudaEventDisableTiming));
    }
  }
  ~EventQueues() {
    for (cudaEvent_t event : done_) static_cast<void>(cudaEventDestroy(event));
  }
  EventQueues(const EventQueues&) = delete;
  EventQueues& operator=(const EventQueues&) = delete;

  [[nodiscard]] const std::vector<Queue*>& all() const { return queues_; }
  [[nodiscard]] std::size_t size() const { return queues_.size(); }
  Queue& operator[](std::size_t shard) const { return *queues_[shard]; }

  /// Records an event after all current work of a queue, for `wait`.
  void record(std::size_t shard) const { check(cudaEventRecord(done_[shard], stream(*queues_[shard]))); }
  /// Later work on queue `second` waits for the event of queue `first`.
  void wait(std::size_t second, std::size_t first) const {
    if (first != second) check(cudaStreamWaitEvent(stream(*queues_[second]), done_[first], 0));
  }
  void wait_for_each_other() const {
    for (std::size_t shard = 0; shard < size(); ++shard) record(shard);
    for (std::size_t second = 0; second < size(); ++second)
      for (std::size_t first = 0; first < size(); ++first) wait(second, first);
  }
  void copy(std::size_t on, void* to, const void* from, std::int64_t bytes) const {
    if (bytes > 0 && to != from)
      check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream(*queues_[on])));
  }

 private:
  std::vector<Queue*> queues_;
  std::vector<cudaEvent_t> done_;
};

void require_peers(std::span<const Shard> shards) {
  if (shards.size() > DeviceView::max_shards)
    throw Unsupported("communicator 'local' connects up to " + std::to_string(DeviceView::max_shards) + " GPUs");
  for (const Shard& from : shards)
    for (const Shard& to : shards) {
      int possible = 1;
      if (from.device != to.device) check(cudaDeviceCanAccessPeer(&possible, from.device.index, to.device.index));
      if (possible == 0)
        throw Unsupported("GPU " + std::to_string(from.device.index) + " cannot reach the memory of GPU " +
                          std::to_string(to.device.index) + ": use communicator 'nccl'");
    }
}

class PeerCommunicator final : public Communicator {
 public:
  PeerCommunicator(Runtime& runtime, std::span<const Shard> shards, bool serialized)
      : serialized_(serialized), queues_{{runtime, shards, 0}, {runtime, shards, 1}} {}

  void reserve(std::int64_t bytes, Order order, int queue) override {
    room_.grow(bytes, order, queue);
    const std::int64_t values = std::min(max_stamped, ceil_div<std::int64_t>(bytes, 4));
    if (values <= slots_[queue].capacity()) return;
    fence();
    slots_[queue].replace(queues_[queue].all(), values);
  }

  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    const EventQueues& queues = queues_[queue];
    room_.require(buffers, queues.size(), order, queue);
    if (buffers.front().size == 0) return;
    if (buffers.front().size > max_stamped) return add_pieces(buffers, Into::all, queues);
    if (!serialized_) return all_reduce_stamped(Phase::whole, buffers, queue);
    all_reduce_stamped(Phase::send, buffers, queue);
    queues.wait_for_each_other();
    all_reduce_stamped(Phase::add, buffers, queue);
  }

  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, queues_[queue].size(), order, queue);
    add_pieces(buffers, Into::own, queues_[queue]);
  }

  void all_gather(std::span<const Buffer> buffers, int queue) override {
    const EventQueues& queues = queues_[queue];
    require_alike(buffers, queues.size());
    queues.wait_for_each_other();
    for (std::size_t from = 0; from < queues.size(); ++from) {
      const Range piece = shard_piece(buffers[from].size, from);
      const auto unit = static_cast<std::int64_t>(size_bytes(buffers[from].type));
      const auto at = [&](std::size_t shard) { return bytes_of(buffers[shard]) + piece.begin * unit; };
      for (std::size_t step = 1; step < queues.size();
           ++step) {  // every device starts with a different receiver (no contention)
        const std::size_t to = (from + step) % queues.size();
        queues.copy(from, at(to), at(from), piece.size() * unit);
      }
    }
    queues.wait_for_each_other();
  }

  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    const EventQueues& queues = queues_[queue];
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < queues.size(); begin += pieces[i].bytes(), ++i) {
      std::byte* to = bytes_of(whole) + begin;
      if (pieces[i].size == 0 || pieces[i].data == to) continue;
      queues.record(i);
      queues.wait(0, i);
      queues.copy(0, to, pieces[i].data, pieces[i].bytes());
    }
    queues.record(0);  // later writes may overwrite the pieces of the others
    for (std::size_t i = 1; i < queues.size(); ++i)
      if (pieces[i].size > 0) queues.wait(i, 0);
  }

  void broadcast(std::span<const Buffer> buffers, int queue) override {
    const EventQueues& queues = queues_[queue];
    require_alike(buffers, queues.size());
    queues.record(0);
    for (std::size_t to = 1; to < queues.size(); ++to) {
      queues.wait(to, 0);
      queues.copy(to, buffers[to].data, buffers[0].data, buffers[0].bytes());
      queues.record(to);
    }
    for (std::size_t to = 1; to < queues.size(); ++to) queues.wait(0, to);
  }

  /// The receiver copies, on its own queue: after earlier work there.
  void exchange(std::span<const Transfer> transfers, int queue) override {
    const EventQueues& queues = queues_[queue];
    const auto for_all = [&](const auto& body) {
      for (const Transfer& one : transfers)
        if (one.bytes > 0) body(one, static_cast<std::size_t>(one.from), static_cast<std::size_t>(one.to));
    };
    for_all([&](const Transfer&, std::size_t from, std::size_t) { queues.record(from); });
    for_all([&](const Transfer&, std::size_t from, std::size_t to) { queues.wait(to, from); });
    for_all(
        [&](const Transfer& one, std::size_t, std::size_t to) { queues.copy(to, one.target, one.source, one.bytes); });
    for_all([&](const Transfer&, std::size_t, std::size_t to) { queues.record(to); });
    for_all([&](const Transfer&, std::size_t from, std::size_t to) { queues.wait(from, to); });
  }

  [[nodiscard]] std::optional<DeviceView> device_view(std::size_t local) override {
    if (serialized_) return {};
    const std::int64_t values = std::max<std::int64_t>(slots_[0].capacity(), 1);
    if (kernels_slots_.capacity() < values) {
      fence();
      kernels_slots_.replace(queues_[0].all(), values);
    }
    return kernels_slots_.view(local);
  }

 private:
  static std::byte* bytes_of(const Buffer& buffer) { return static_cast<std::byte*>(buffer.data); }
  [[nodiscard]] Range shard_piece(std::int64_t size, std::size_t shard) const {
    return piece_of(size, static_cast<std::int64_t>(queues_[0].size()), static_cast<std::int64_t>(shard));
  }
  void fence() const {
    for (const EventQueues& queues : queues_)
      for (Queue* queue : queues.all()) queue->fence();
  }
  void all_reduce_stamped(Phase phase, std::span<const Buffer> buffers, int queue) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      add_stamped(queues_[queue][i], phase, slots_[queue].view(i), buffers[i], slots_[queue].stamps(i));
  }
  void add_pieces(std::span<const Buffer> buffers, Into into, const EventQueues& queues) const {
    queues.wait_for_each_other();
    for (std::size_t i = 0; i < buffers.size(); ++i)
      add_piece(queues[i], buffers, i, shard_piece(buffers[i].size, i), into);
    queues.wait_for_each_other();
  }

  bool serialized_;
  EventQueues queues_[queue_count];
  ReceiveSlots slots_[queue_count], kernels_slots_;
  Room room_;
};

template <bool serialized>
std::unique_ptr<Communicator> make(Runtime& runtime, std::span<const Shard> shards, const Partition& world) {
  require_one_process(world, serialized ? "local_serialized" : "local");
  require_peers(shards);
  return std::make_unique<PeerCommunicator>(runtime, shards, serialized);
}

const RegisterEngine local{"local", DeviceKind::gpu, make<false>};
const RegisterEngine local_serialized{"local_serialized", DeviceKind::gpu, make<true>};
const RegisterEngine automatic{"auto", DeviceKind::gpu, make_auto_communicator};

}  // namespace
}  // namespace league::cuda
