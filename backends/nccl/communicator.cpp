// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/collectives.hpp"
#include "backends/nccl/clique.hpp"

// The engine of NVIDIA's collective library, between the CUDA devices of all ranks. A group of calls is submitted to
// the streams of all devices together, and can be captured. The order of additions in NCCL is unspecified: for ordered
// sums it only moves the values, and a kernel adds them.
namespace league::nccl {
namespace {

/// Ordered sums up to this size: every device gathers the values of all shards and adds them; larger ones: only those
/// of its own piece.
constexpr std::int64_t max_gathered_bytes = 256 * 1024;

/// A buffer on a device.
class Scratch {
 public:
  Scratch(const Queue& queue, std::int64_t bytes) {
    if (cudaSetDevice(queue.device().index) != cudaSuccess ||
        cudaMalloc(&data_, static_cast<std::size_t>(bytes)) != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      throw Unsupported("ordered sums by NCCL: no room for " + std::to_string(bytes) + " bytes on GPU " +
                        std::to_string(queue.device().index));
    }
  }
  ~Scratch() { static_cast<void>(cudaFree(data_)); }
  Scratch(Scratch&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

ncclDataType_t type_of(Dtype type) {
  ncclDataType_t found = ncclFloat64;
  with_sum_type(type, [&]<class T>() {
    if constexpr (std::is_same_v<T, float>) found = ncclFloat32;
    if constexpr (std::is_same_v<T, std::int32_t>) found = ncclInt32;
    if constexpr (std::is_same_v<T, std::int64_t>) found = ncclInt64;
  });
  return found;
}

/// Some values of a buffer.
Buffer part(const Buffer& buffer, Range values) {
  return {static_cast<std::byte*>(buffer.data) + values.begin * static_cast<std::int64_t>(size_bytes(buffer.type)),
          values.size(), buffer.type};
}
std::size_t count(const Buffer& buffer) { return static_cast<std::size_t>(buffer.size); }
std::size_t bytes(const Buffer& buffer) { return static_cast<std::size_t>(buffer.bytes()); }

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(Runtime& runtime, std::span<const Shard> shards, const Partition& world)
      : ranks_(runtime.ranks()),
        clique_(clique_of(runtime, shards, world)),
        shards_(world.rows.size()),
        first_(static_cast<std::size_t>(world.first_local)) {
    for (int queue = 0; queue < queue_count; ++queue)
      for (const Shard& shard : shards) queues_[queue].queues.push_back(&runtime.queue(shard.device, queue));
  }

  void reserve(std::int64_t bytes, Order order, int queue) override {
    ShardQueues& that = queues_[queue];
    if (!room_.grow(bytes, order, queue) || order == Order::any) return;
    for (const ShardQueues& one : queues_)
      for (Queue* each : one.queues) each->fence();
    that.scratch.clear();
    const std::int64_t gathered = std::min(bytes, max_gathered_bytes) * static_cast<std::int64_t>(shards_);
    // all shards' values of the longest piece, which is at most one value longer than the average
    const std::int64_t scattered = bytes + static_cast<std::int64_t>(shards_ * sizeof(double));
    for (const Queue* each : that.queues) that.scratch.emplace_back(*each, std::max(gathered, scattered));
  }

  void all_reduce(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, size(), order, queue);
    if (buffers.front().size == 0) return;
    if (order == Order::any)
      return for_ranks(queue, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
        calls_.check(calls_.all_reduce(buffers[i].data, buffers[i].data, count(buffers[i]), type_of(buffers[i].type),
                                       ncclSum, rank, stream));
      });
    if (buffers.front().bytes() > max_gathered_bytes) {
      add_pieces(buffers, queue);
      return all_gather(buffers, queue);
    }
    for_ranks(queue, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
      calls_.check(calls_.all_gather(buffers[i].data, queues_[queue].scratch[i].data(), bytes(buffers[i]), ncclUint8,
                                     rank, stream));
    });
    for (std::size_t i = 0; i < size(); ++i) add_rows(i, buffers[i], queue);
  }

  void reduce_scatter(std::span<const Buffer> buffers, Order order, int queue) override {
    room_.require(buffers, size(), order, queue);
    if (buffers.front().size == 0) return;
    if (order == Order::ordered) return add_pieces(buffers, queue);
    const ncclDataType_t type = type_of(buffers.front().type);
    for_ranks(queue, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
      if (of_equal_pieces(buffers[i])) {
        const Buffer own = shard_piece(buffers[i], first_ + i);
        return calls_.check(calls_.reduce_scatter(buffers[i].data, own.data, count(own), type, ncclSum, rank, stream));
      }
      for (std::size_t root = 0; root < shards_; ++root) {
        const Buffer piece = shard_piece(buffers[i], root);
        if (piece.size > 0)
          calls_.check(
              calls_.reduce(piece.data, piece.data, count(piece), type, ncclSum, static_cast<int>(root), rank, stream));
      }
    });
  }

  void all_gather(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, size());
    if (buffers.front().size == 0) return;
    for_ranks(queue, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
      if (of_equal_pieces(buffers[i])) {
        const Buffer own = shard_piece(buffers[i], first_ + i);
        return calls_.check(calls_.all_gather(own.data, buffers[i].data, bytes(own), ncclUint8, rank, stream));
      }
      for (std::size_t root = 0; root < shards_; ++root) broadcast(shard_piece(buffers[i], root), root, rank, stream);
    });
  }

  void gather(std::span<const Buffer> pieces, Buffer whole, int queue) override {
    std::vector<Transfer> transfers;
    std::int64_t begin = 0;
    for (std::size_t shard = 0; const std::int64_t bytes : bytes_of_all(pieces)) {
      const void* from = is_here(shard) ? pieces[shard - first_].data : nullptr;
      std::byte* to = static_cast<std::byte*>(whole.data) + begin;
      if (from != to) transfers.push_back({static_cast<int>(shard), 0, from, to, bytes});
      begin += bytes;
      ++shard;
    }
    exchange(transfers, queue);
  }

  void broadcast(std::span<const Buffer> buffers, int queue) override {
    require_alike(buffers, size());
    for_ranks(queue,
              [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) { broadcast(buffers[i], 0, rank, stream); });
  }

  void exchange(std::span<const Transfer> transfers, int queue) override {
    group(calls_, [&] {
      for (const Transfer& one : transfers) {
        if (one.bytes == 0) continue;
        const auto from = static_cast<std::size_t>(one.from), to = static_cast<std::size_t>(one.to);
        const auto size = static_cast<std::size_t>(one.bytes);
        if (is_here(from))
          calls_.check(calls_.send(one.source, size, ncclUint8, one.to, clique()[from - first_], stream(queue, from)));
        if (is_here(to))
          calls_.check(calls_.receive(one.target, size, ncclUint8, one.from, clique()[to - first_], stream(queue, to)));
      }
    });
  }

 private:
  struct ShardQueues {
    std::vector<Queue*> queues;
    std::vector<Scratch> scratch;
  };

  /// Number of local shards.
  [[nodiscard]] std::size_t size() const { return queues_[0].queues.size(); }
  [[nodiscard]] bool is_here(std::size_t shard) const { return shard >= first_ && shard < first_ + size(); }
  [[nodiscard]] const Clique& clique() const { return *clique_; }
  /// The stream of a local shard.
  [[nodiscard]] cudaStream_t stream(int queue, std::size_t shard) const {
    return static_cast<cudaStream_t>(queues_[queue].queues[shard - first_]->handle());
  }
  /// Sizes of the pieces of all shards, gathered from all ranks.
  [[nodiscard]] std::vector<std::int64_t> bytes_of_all(std::span<const Buffer> pieces) const {
    std::vector<std::int64_t> all(shards_);
    for (std::size_t i = 0; i < pieces.size(); ++i) all[first_ + i] = pieces[i].bytes();
    ranks_.all_reduce(all.data(), std::ssize(all), Dtype::i64);
    return all;
  }
  [[nodiscard]] Buffer shard_piece(const Buffer& buffer, std::size_t shard) const {
    return part(buffer, piece_of(buffer.size, static_cast<std::int64_t>(shards_), static_cast<std::int64_t>(shard)));
  }
  [[nodiscard]] bool of_equal_pieces(const Buffer& buffer) const {
    return buffer.size % static_cast<std::int64_t>(shards_) == 0;
  }

  template <class Body>
  void for_ranks(int queue, const Body& body) const {
    group(calls_, [&] {
      for (std::size_t i = 0; i < size(); ++i) body(i, clique()[i], stream(queue, first_ + i));
    });
  }
  void broadcast(const Buffer& buffer, std::size_t root, ncclComm_t rank, cudaStream_t stream) const {
    if (buffer.size > 0)
      calls_.check(
          calls_.broadcast(buffer.data, buffer.data, bytes(buffer), ncclUint8, static_cast<int>(root), rank, stream));
  }

  /// Adds the rows in a shard's scratch.
  void add_rows(std::size_t shard, const Buffer& sum, int queue) const {
    cuda::add_rows(*queues_[queue].queues[shard], queues_[queue].scratch[shard].data(), static_cast<int>(shards_), sum);
  }
  /// Every shard receives all shards' values of its piece, and adds them.
  void add_pieces(std::span<const Buffer> buffers, int queue) {
    std::vector<Transfer> transfers;
    for (std::size_t to = 0; to < shards_; ++to) {
      std::byte* row = is_here(to) ? queues_[queue].scratch[to - first_].data() : nullptr;
      for (std::size_t from = 0; from < shards_; ++from) {
        const Buffer piece = shard_piece(buffers[is_here(from) ? from - first_ : 0], to);
        if (is_here(from) || is_here(to))
          transfers.push_back({static_cast<int>(from), static_cast<int>(to), piece.data, row, piece.bytes()});
        if (row != nullptr) row += piece.bytes();
      }
    }
    exchange(transfers, queue);
    for (std::size_t i = 0; i < size(); ++i) add_rows(i, shard_piece(buffers[i], first_ + i), queue);
  }

  const Library& calls_ = library();
  Ranks& ranks_;
  std::shared_ptr<Clique> clique_;
  std::size_t shards_, first_;  ///< total number; index of the first local one
  ShardQueues queues_[queue_count];
  Room room_;
};

const RegisterEngine engine{
    "nccl", DeviceKind::gpu,
    [](Runtime& runtime, std::span<const Shard> shards, const Partition& world) -> std::unique_ptr<Communicator> {
      return std::make_unique<NcclCommunicator>(runtime, shards, world);
    }};

}  // namespace
}  // namespace league::nccl
