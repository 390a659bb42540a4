// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>
#include <vector>

#include "backends/auto_communicator.hpp"
#include "backends/communicator.hpp"
#include "backends/cuda/barrier.hpp"
#include "backends/cuda/collectives.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/peers.hpp"
#include "backends/cuda/slots.hpp"

// The local engine, between GPUs with peer access.
//
// Few values: one kernel per device writes its values into the receive slots of all devices, as words stamped with the
// number of the all-reduce, polls its own slots until all have arrived, and adds them. Many values: each device owns a
// piece, reads it from the buffers of all, and writes the sum to all. Both add in shard order. The other collectives
// are transfers, which their receivers copy.
//
// Calls that read the memory of other devices begin and end together: two devices and copy engines by events, kernels
// on more devices by barriers (barrier.hpp).
//
// `local_serialized` adds few values in two kernels, and joins devices by events only: no kernel polls another, so that
// profilers and sanitizers can serialise and replay them.
namespace league::cuda {
namespace {

/// Maximum values of a sum sent as stamped words (256 KiB of doubles). All blocks of such a sum must be resident at
/// once, together with those on the other queue.
constexpr std::int64_t max_stamped = 32 * 1024;

/// Between more than two GPUs: maximum bytes of a call whose kernels have the barriers inside, with few blocks, since
/// these wait; and of a transfer that kernels copy. Copy engines take longer to start, and are then faster.
constexpr std::int64_t max_fused = 1 << 20, max_copied_by_kernels = 16 << 20;

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

  void wait_for_each_other() const {
    for (std::size_t i = 0; i < size(); ++i) check(cudaEventRecord(done_[i], stream(*queues_[i])));
    for (std::size_t second = 0; second < size(); ++second)
      for (std::size_t first = 0; first < size(); ++first)
        if (first != second) check(cudaStreamWaitEvent(stream(*queues_[second]), done_[first], 0));
  }
  /// On the receiver's queue.
  void copy(const Transfer& one) const {
    check(cudaMemcpyAsync(one.target, one.source, static_cast<std::size_t>(one.bytes), cudaMemcpyDefault,
                          stream(*queues_[static_cast<std::size_t>(one.to)])));
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
      if (from.device == to.device) continue;
      const PeerAccess access = peer_access(from.device.index, to.device.index);
      if (access == PeerAccess::works) continue;
      const std::string gpus = "GPU " + std::to_string(from.device.index) + " cannot reach the memory of GPU " +
                               std::to_string(to.device.index);
      throw Unsupported(access == PeerAccess::none
                            ? gpus + ": use communicator 'nccl'"
                            : gpus + ", though the driver reports it: use communicator 'nccl' and NCCL_P2P_DISABLE=1");
    }
}

class PeerCommunicator final : public Communicator {
 public:
  PeerCommunicator(Runtime& runtime, std::span<const Shard> shards, bool serialized)
      : serialized_(serialized),
        by_events_(serialized || shards.size() == 2),
        queues_{{runtime, shards, 0}, {runtime, shards, 1}},
        barriers_{barriers(0), barriers(1)} {}

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
    if (buffers.front().size > max_stamped) return add_pieces(buffers, Into::all, queue);
    if (!serialized_) return all_reduce_stamped(Phase::whole, buffers, queue);
    all_reduce_stamped(Phase::send, buffers, queue);
    queues.wait_for_each_other();
    all_reduce_stamped(Phase::add, buffers, queue);
  }

  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, queues_[queue].size(), order, queue);
    add_pieces(buffers, Into::own, queue);
  }

  void all_gather(std::span<const Buffer> buffers, int queue) override {
    const std::size_t shards = queues_[queue].size();
    require_alike(buffers, shards);
    std::vector<Transfer> transfers;
    for (std::size_t step = 1; step < shards; ++step)  // every device starts with a different one (no contention)
      for (std::size_t to = 0; to < shards; ++to) {
        const std::size_t from = (to + step) % shards;
        const Range piece = shard_piece(buffers[from].size, from);
        const auto unit = static_cast<std::int64_t>(size_bytes(buffers[from].type));
        const auto at = [&](std::size_t shard) { return bytes_of(buffers[shard]) + piece.begin * unit; };
        transfers.push_back(transfer(from, to, at(from), at(to), piece.size() * unit));
      }
    exchange(transfers, queue);
  }

  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    std::vector<Transfer> transfers;
    std::byte* to = bytes_of(whole);
    for (std::size_t from = 0; from < pieces.size(); to += pieces[from].bytes(), ++from)
      if (pieces[from].data != to) transfers.push_back(transfer(from, 0, pieces[from].data, to, pieces[from].bytes()));
    exchange(transfers, queue);
  }

  void broadcast(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, queues_[queue].size());
    std::vector<Transfer> transfers;
    for (std::size_t to = 1; to < buffers.size(); ++to)
      transfers.push_back(transfer(0, to, buffers[0].data, buffers[to].data, buffers[0].bytes()));
    exchange(transfers, queue);
  }

  /// The receiver copies, on its own queue: after earlier work there.
  void exchange(std::span<const Transfer> transfers, int queue) override {
    std::vector<std::vector<Transfer>> received(queues_[queue].size());
    std::int64_t longest = 0;
    for (const Transfer& one : transfers) {
      if (one.bytes == 0) continue;
      received[static_cast<std::size_t>(one.to)].push_back(one);
      longest = std::max(longest, one.bytes);
    }
    if (longest == 0) return;
    const bool by_kernels = !by_events_ && longest <= max_copied_by_kernels &&
                            std::ranges::all_of(received, [](const auto& own) { return own.size() <= max_transfers; });
    if (!by_kernels) return copy(received, queues_[queue]);
    together(queue, longest, [&](std::size_t to, const BarrierView& barrier) {
      copy_transfers(queues_[queue][to], received[to], barrier);
    });
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
  /// None where events join the queues.
  [[nodiscard]] Barriers barriers(int queue) const {
    return Barriers(by_events_ ? std::span<Queue* const>() : queues_[queue].all());
  }
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
  static Transfer transfer(std::size_t from, std::size_t to, const void* source, void* target, std::int64_t bytes) {
    return {static_cast<int>(from), static_cast<int>(to), source, target, bytes};
  }
  /// Copies by the devices' copy engines.
  static void copy(std::span<const std::vector<Transfer>> received, const EventQueues& queues) {
    queues.wait_for_each_other();
    for (const std::vector<Transfer>& own : received)
      for (const Transfer& one : own) queues.copy(one);
    queues.wait_for_each_other();
  }
  /// Later work of each queue waits for the earlier work of all.
  void join(int queue) const {
    const EventQueues& queues = queues_[queue];
    if (by_events_) return queues.wait_for_each_other();
    for (std::size_t i = 0; i < queues.size(); ++i) join_queues(queues[i], barriers_[queue].view(i));
  }
  /// `body(shard, barrier)` submits a kernel for each shard, which begin and end together: by the barrier if that is
  /// not empty.
  template <class Body>
  void together(int queue, std::int64_t bytes, const Body& body) const {
    const bool fused = !by_events_ && bytes <= max_fused;
    if (!fused) join(queue);
    for (std::size_t i = 0; i < queues_[queue].size(); ++i) body(i, fused ? barriers_[queue].view(i) : BarrierView{});
    if (!fused) join(queue);
  }
  void add_pieces(std::span<const Buffer> buffers, Into into, int queue) const {
    if (buffers.front().size == 0) return;
    together(queue, buffers.front().bytes(), [&](std::size_t i, const BarrierView& barrier) {
      add_piece(queues_[queue][i], buffers, i, shard_piece(buffers[i].size, i), into, barrier);
    });
  }

  bool serialized_;
  bool by_events_;  ///< joins queues: faster between two GPUs, slower between more
  EventQueues queues_[queue_count];
  Barriers barriers_[queue_count];
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
