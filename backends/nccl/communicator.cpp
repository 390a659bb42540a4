// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/communicator.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/sums.hpp"
#include "backends/nccl/library.hpp"

// The engine of NVIDIA's collective library, between the CUDA devices of this process. A group of calls is queued on
// the streams of all devices at once, and can be recorded into a graph. NCCL adds in an order of its own: for sums in
// the order of the shards it only moves the values, and a kernel adds them.
namespace league::nccl {
namespace {

/// Up to so many bytes every device gets the values of all shards and adds them all; of more, those of its own piece.
constexpr std::int64_t most_gathered_bytes = 256 * 1024;

/// One rank a device. Both lanes share it: what is queued on several streams, NCCL carries out one after another, and
/// two sets of ranks on the same devices could wait for each other.
class Ranks {
 public:
  explicit Ranks(const std::vector<int>& devices) : all_(devices.size()) {
    library().check(library().init(all_.data(), static_cast<int>(devices.size()), devices.data()));
  }
  ~Ranks() {
    for (ncclComm_t rank : all_) static_cast<void>(library().destroy(rank));
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  [[nodiscard]] ncclComm_t operator[](std::size_t i) const { return all_[i]; }

 private:
  std::vector<ncclComm_t> all_;
};

/// All that were made, by their devices. To make some takes seconds, so that the runtime keeps them.
using KeptRanks = std::map<std::vector<int>, std::unique_ptr<Ranks>>;

const Ranks& ranks_of(Runtime& runtime, std::span<const Shard> shards) {
  std::vector<int> devices;
  for (const Shard& shard : shards) devices.push_back(shard.device.index);
  auto& kept = runtime.attachment<KeptRanks>(shards.front().device, [] { return KeptRanks(); });
  std::unique_ptr<Ranks>& ranks = kept[devices];
  if (!ranks) ranks = std::make_unique<Ranks>(devices);
  return *ranks;
}

/// Bytes on a device.
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
  NcclCommunicator(Runtime& runtime, std::span<const Shard> shards) : ranks_(ranks_of(runtime, shards)) {
    for (int lane = 0; lane < lanes; ++lane)
      for (const Shard& shard : shards) lanes_[lane].queues.push_back(&runtime.queue(shard.device, lane));
  }

  void reserve(std::int64_t bytes, Order order, int lane) override {
    Lane& that = lanes_[lane];
    if (!room_.grow(bytes, order, lane) || order == Order::any) return;
    for (const Lane& one : lanes_)
      for (Queue* queue : one.queues) queue->fence();
    that.scratch.clear();
    const std::int64_t gathered = std::min(bytes, most_gathered_bytes) * static_cast<std::int64_t>(size());
    // all shards' values of the longest piece, which is up to a value longer than an equal part
    const std::int64_t scattered = bytes + static_cast<std::int64_t>(size() * sizeof(double));
    for (const Queue* queue : that.queues) that.scratch.emplace_back(*queue, std::max(gathered, scattered));
  }

  void all_reduce(std::span<const Buffer> buffers, Order order, int lane) override {
    room_.require(buffers, size(), order, lane);
    if (buffers.front().size == 0) return;
    if (order == Order::any)
      return for_ranks(lane, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
        calls_.check(calls_.all_reduce(buffers[i].data, buffers[i].data, count(buffers[i]), type_of(buffers[i].type),
                                       ncclSum, rank, stream));
      });
    if (buffers.front().bytes() > most_gathered_bytes) {
      add_pieces(buffers, lane);
      return all_gather(buffers, lane);
    }
    for_ranks(lane, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
      calls_.check(calls_.all_gather(buffers[i].data, lanes_[lane].scratch[i].data(), bytes(buffers[i]), ncclUint8,
                                     rank, stream));
    });
    for (std::size_t i = 0; i < size(); ++i) add_rows(i, buffers[i], lane);
  }

  void reduce_scatter(std::span<const Buffer> buffers, Order order, int lane) override {
    room_.require(buffers, size(), order, lane);
    if (buffers.front().size == 0) return;
    if (order == Order::ordered) return add_pieces(buffers, lane);
    const ncclDataType_t type = type_of(buffers.front().type);
    for_ranks(lane, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
      if (of_equal_pieces(buffers[i])) {
        const Buffer own = shard_piece(buffers[i], i);
        return calls_.check(calls_.reduce_scatter(buffers[i].data, own.data, count(own), type, ncclSum, rank, stream));
      }
      for (std::size_t root = 0; root < size(); ++root) {
        const Buffer piece = shard_piece(buffers[i], root);
        if (piece.size > 0)
          calls_.check(
              calls_.reduce(piece.data, piece.data, count(piece), type, ncclSum, static_cast<int>(root), rank, stream));
      }
    });
  }

  void all_gather(std::span<const Buffer> buffers, int lane) override {
    require_alike(buffers, size());
    if (buffers.front().size == 0) return;
    for_ranks(lane, [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) {
      if (of_equal_pieces(buffers[i])) {
        const Buffer own = shard_piece(buffers[i], i);
        return calls_.check(calls_.all_gather(own.data, buffers[i].data, bytes(own), ncclUint8, rank, stream));
      }
      for (std::size_t root = 0; root < size(); ++root) broadcast(shard_piece(buffers[i], root), root, rank, stream);
    });
  }

  void gather(std::span<const Buffer> pieces, Buffer whole, int lane) override {
    std::vector<Transfer> transfers;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < pieces.size(); begin += pieces[i].bytes(), ++i) {
      std::byte* to = static_cast<std::byte*>(whole.data) + begin;
      if (pieces[i].data != to) transfers.push_back({static_cast<int>(i), 0, pieces[i].data, to, pieces[i].bytes()});
    }
    exchange(transfers, lane);
  }

  void broadcast(std::span<const Buffer> buffers, int lane) override {
    require_alike(buffers, size());
    for_ranks(lane,
              [&](std::size_t i, ncclComm_t rank, cudaStream_t stream) { broadcast(buffers[i], 0, rank, stream); });
  }

  void exchange(std::span<const Transfer> transfers, int lane) override {
    group(calls_, [&] {
      for (const Transfer& one : transfers) {
        if (one.bytes == 0) continue;
        const auto from = static_cast<std::size_t>(one.from), to = static_cast<std::size_t>(one.to);
        const auto size = static_cast<std::size_t>(one.bytes);
        calls_.check(calls_.send(one.source, size, ncclUint8, one.to, ranks_[from], stream(lane, from)));
        calls_.check(calls_.receive(one.target, size, ncclUint8, one.from, ranks_[to], stream(lane, to)));
      }
    });
  }

 private:
  struct Lane {
    std::vector<Queue*> queues;
    std::vector<Scratch> scratch;
  };

  [[nodiscard]] std::size_t size() const { return lanes_[0].queues.size(); }
  [[nodiscard]] cudaStream_t stream(int lane, std::size_t shard) const {
    return static_cast<cudaStream_t>(lanes_[lane].queues[shard]->handle());
  }
  [[nodiscard]] Buffer shard_piece(const Buffer& buffer, std::size_t shard) const {
    return part(buffer, piece_of(buffer.size, static_cast<std::int64_t>(size()), static_cast<std::int64_t>(shard)));
  }
  [[nodiscard]] bool of_equal_pieces(const Buffer& buffer) const {
    return buffer.size % static_cast<std::int64_t>(size()) == 0;
  }

  template <class Body>
  void for_ranks(int lane, const Body& body) const {
    group(calls_, [&] {
      for (std::size_t i = 0; i < size(); ++i) body(i, ranks_[i], stream(lane, i));
    });
  }
  void broadcast(const Buffer& buffer, std::size_t root, ncclComm_t rank, cudaStream_t stream) const {
    if (buffer.size > 0)
      calls_.check(
          calls_.broadcast(buffer.data, buffer.data, bytes(buffer), ncclUint8, static_cast<int>(root), rank, stream));
  }

  /// The sum of the rows in a shard's scratch.
  void add_rows(std::size_t shard, const Buffer& sum, int lane) const {
    cuda::add_rows(*lanes_[lane].queues[shard], lanes_[lane].scratch[shard].data(), static_cast<int>(size()), sum);
  }
  /// Every shard gets all shards' values of its piece, and adds them.
  void add_pieces(std::span<const Buffer> buffers, int lane) {
    std::vector<Transfer> transfers;
    for (std::size_t to = 0; to < size(); ++to) {
      std::byte* row = lanes_[lane].scratch[to].data();
      for (std::size_t from = 0; from < size(); ++from) {
        const Buffer piece = shard_piece(buffers[from], to);
        transfers.push_back({static_cast<int>(from), static_cast<int>(to), piece.data, row, piece.bytes()});
        row += piece.bytes();
      }
    }
    exchange(transfers, lane);
    for (std::size_t i = 0; i < size(); ++i) add_rows(i, shard_piece(buffers[i], i), lane);
  }

  const Library& calls_ = library();
  const Ranks& ranks_;
  Lane lanes_[lanes];
  Room room_;
};

const RegisterEngine engine{
    "nccl", DeviceKind::gpu,
    [](Runtime& runtime, std::span<const Shard> shards, const Partition& world) -> std::unique_ptr<Communicator> {
      require_one_process(world, "nccl");
      return std::make_unique<NcclCommunicator>(runtime, shards);
    }};

}  // namespace
}  // namespace league::nccl
