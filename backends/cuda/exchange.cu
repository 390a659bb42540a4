// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <string>
#include <vector>

#include "backends/communicator.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/wait.hpp"

// The local engine between GPUs that reach each other's memory: one kernel a device and sum. Each device writes its
// values into the inboxes of all, as stamped words with the number of the exchange, waits until all have come into its
// own, and adds them in shard order.
//
// `local_serialized` does the same in two kernels, ordered by events: none waits for another, so that a profiler or a
// sanitizer may run them one at a time, and again.
namespace league::cuda {
namespace {

constexpr int most_devices = 16;
constexpr int block_size = 512;

/// Where a sum of `capacity` doubles arrives, by parity of the exchange, sender and element: [2 x devices x capacity].
struct Inbox {
  Word* low = nullptr;
  Word* high = nullptr;
};

struct Peers {
  Inbox inbox[most_devices];
  int count = 0, self = 0;
  std::int64_t capacity = 0;
};

/// What one kernel does of an exchange.
enum class Phase { whole, send, add };

/// A block takes `block_size` elements, always the same ones, and counts its own exchanges. A slot is written again two
/// exchanges later: by then every reader of the first has sent its part of the second.
template <Phase phase>
__global__ void __launch_bounds__(block_size) exchange(Peers peers, int size, double* values, unsigned* exchanges) {
  const unsigned exchange = exchanges[blockIdx.x] + 1;
  const int i = static_cast<int>(blockIdx.x) * block_size + static_cast<int>(threadIdx.x);
  const std::int64_t slots = (exchange & 1U) * peers.count * peers.capacity + i;
  if (i < size) {
    const double mine = values[i];
    if constexpr (phase != Phase::add)
      for (int step = 1; step < peers.count; ++step) {  // every device begins with another receiver
        const Inbox& to = peers.inbox[(peers.self + step) % peers.count];
        const std::int64_t slot = slots + peers.self * peers.capacity;
        publish(to.low + slot, to.high + slot, mine, exchange);
      }
    if constexpr (phase != Phase::send) {
      const Inbox& own = peers.inbox[peers.self];
      double sum = 0;
      for (int sender = 0; sender < peers.count; ++sender) {
        const std::int64_t slot = slots + sender * peers.capacity;
        sum += sender == peers.self ? mine : await(own.low + slot, own.high + slot, exchange);
      }
      values[i] = sum;
    }
  }
  if constexpr (phase != Phase::send) {
    __syncthreads();
    if (threadIdx.x == 0) exchanges[blockIdx.x] = exchange;
  }
}

class PeerCommunicator final : public Communicator {
 public:
  PeerCommunicator(Runtime& runtime, std::span<const Shard> shards, bool serialized) : serialized_(serialized) {
    if (shards.size() > most_devices)
      throw Unsupported("communicator 'local' joins up to " + std::to_string(most_devices) + " GPUs");
    for (const Shard& shard : shards) {
      members_.push_back({.queue = &runtime.queue(shard.device)});
      stream(*members_.back().queue);
      check(cudaEventCreateWithFlags(&members_.back().ready, cudaEventDisableTiming));
    }
    for (const Member& from : members_)
      for (const Member& to : members_) require_peers(from.queue->device().index, to.queue->device().index);
    reserve(block_size);
  }
  ~PeerCommunicator() override {
    for (const Member& member : members_) static_cast<void>(cudaEventDestroy(member.ready));
  }

  void reserve(std::int64_t size) override {
    if (size <= capacity_) return;
    for (Member& member : members_) member.queue->fence();
    capacity_ = ceil_div<std::int64_t>(size, block_size) * block_size;
    const std::int64_t words = 2 * static_cast<std::int64_t>(members_.size()) * capacity_;
    for (Member& member : members_) {
      member.low = Array<Word>(*member.queue, words);
      member.high = Array<Word>(*member.queue, words);
      member.exchanges = Array<unsigned>(*member.queue, capacity_ / block_size);
      member.low.clear();
      member.high.clear();
      member.exchanges.clear();
      member.queue->fence();
    }
  }

  void sum(std::span<const std::span<double>> buffers) override {
    if (!serialized_) return launch<Phase::whole>(buffers);
    launch<Phase::send>(buffers);
    for (const Member& member : members_) check(cudaEventRecord(member.ready, stream(*member.queue)));
    for (const Member& adder : members_)
      for (const Member& sender : members_)
        if (&sender != &adder) check(cudaStreamWaitEvent(stream(*adder.queue), sender.ready, 0));
    launch<Phase::add>(buffers);
  }

  void gather(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> whole) override {
    Queue& root = *members_.front().queue;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < members_.size(); begin += pieces[i].size(), ++i) {
      if (pieces[i].empty() || pieces[i].data() == whole.data() + begin) continue;
      check(cudaEventRecord(members_[i].ready, stream(*members_[i].queue)));
      check(cudaStreamWaitEvent(stream(root), members_[i].ready, 0));
      check(cudaMemcpyAsync(whole.data() + begin, pieces[i].data(), pieces[i].size(), cudaMemcpyDefault, stream(root)));
    }
    // What the others get next may overwrite their pieces.
    check(cudaEventRecord(members_.front().ready, stream(root)));
    for (std::size_t i = 1; i < members_.size(); ++i)
      if (!pieces[i].empty()) check(cudaStreamWaitEvent(stream(*members_[i].queue), members_.front().ready, 0));
  }

 private:
  struct Member {
    Queue* queue = nullptr;
    cudaEvent_t ready = nullptr;
    Array<Word> low{}, high{};
    Array<unsigned> exchanges{};
  };

  template <Phase phase>
  void launch(std::span<const std::span<double>> buffers) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      Peers peers{.count = static_cast<int>(members_.size()), .self = static_cast<int>(i), .capacity = capacity_};
      for (std::size_t k = 0; k < members_.size(); ++k)
        peers.inbox[k] = {members_[k].low.data(), members_[k].high.data()};
      const int size = static_cast<int>(buffers[i].size());
      exchange<phase><<<static_cast<unsigned>(ceil_div(std::max(size, 1), block_size)), block_size, 0,
                        stream(*members_[i].queue)>>>(peers, size, buffers[i].data(), members_[i].exchanges.data());
      check_launch();
    }
  }

  static void require_peers(int from, int to) {
    int possible = 1;
    if (from != to) check(cudaDeviceCanAccessPeer(&possible, from, to));
    if (possible == 0)
      throw Unsupported("GPU " + std::to_string(from) + " cannot reach the memory of GPU " + std::to_string(to) +
                        ": use communicator 'nccl'");
  }

  bool serialized_;
  std::vector<Member> members_;
  std::int64_t capacity_ = 0;
};

template <bool serialized>
std::unique_ptr<Communicator> make(Runtime& runtime, std::span<const Shard> shards) {
  return std::make_unique<PeerCommunicator>(runtime, shards, serialized);
}

const RegisterEngine local{"local", DeviceKind::gpu, make<false>};
const RegisterEngine local_serialized{"local_serialized", DeviceKind::gpu, make<true>};

}  // namespace
}  // namespace league::cuda
