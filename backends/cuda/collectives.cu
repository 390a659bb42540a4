// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "backends/cuda/barrier.hpp"
#include "backends/cuda/collectives.hpp"
#include "backends/cuda/wait.hpp"

namespace league::cuda {
namespace {

/// A block always takes the same `stamped_block` elements, and counts its all-reduces. A slot is reused after two
/// all-reduces (double buffer): by then every reader of the first has sent its values for the second. This also holds
/// across types, since an element has the same slot in all of them.
template <class T, Phase phase>
__global__ void __launch_bounds__(stamped_block) all_reduce(DeviceView view, int size, T* values, unsigned* stamps) {
  const unsigned stamp = stamps[blockIdx.x] + 1;
  const int i = static_cast<int>(blockIdx.x) * stamped_block + static_cast<int>(threadIdx.x);
  if (i < size) {
    const T mine = values[i];
    if constexpr (phase != Phase::add)
      for (int step = 1; step < view.shards; ++step) {  // every device starts with a different one (no contention)
        Word* to = view.words[(view.self + step) % view.shards] + view.from(view.self, stamp) + i;
        publish(to, to + view.high(), mine, stamp);
      }
    if constexpr (phase != Phase::send) {
      T sum = 0;
      for (int sender = 0; sender < view.shards; ++sender) {
        const Word* slot = view.words[view.self] + view.from(sender, stamp) + i;
        sum += sender == view.self ? mine : await<T>(slot, slot + view.high(), stamp);
      }
      values[i] = sum;
    }
  }
  if constexpr (phase != Phase::send) {
    __syncthreads();
    if (threadIdx.x == 0) stamps[blockIdx.x] = stamp;
  }
}

template <Phase phase>
void launch_all_reduce(Queue& queue, const DeviceView& view, const Buffer& values, unsigned* stamps) {
  const auto blocks = static_cast<unsigned>(ceil_div<std::int64_t>(values.size, stamped_block));
  with_sum_type(values.type, [&]<class T>() {
    all_reduce<T, phase><<<blocks, stamped_block, 0, stream(queue)>>>(view, static_cast<int>(values.size),
                                                                      static_cast<T*>(values.data), stamps);
  });
  check_launch();
}

constexpr int block_size = 512;
/// Blocks with enough remote loads in flight to saturate the links, while leaving room for concurrent kernels.
constexpr std::int64_t max_blocks = 256;
/// Of a kernel whose blocks wait: few, since they leave no room for those that other devices wait for.
constexpr std::int64_t max_waiting_blocks = 64;

/// Values of one 16-byte access.
template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T values[size];
};

/// The first value of a piece in the buffer of each shard.
struct Pieces {
  void* data[DeviceView::max_shards];
  int shards, own;
};

template <class T>
__device__ void add(T& sum, const T& term) {
  sum += term;
}
template <class T>
__device__ void add(Pack<T>& sum, const Pack<T>& term) {
  for (int i = 0; i < Pack<T>::size; ++i) sum.values[i] += term.values[i];
}

/// Adds `count` values, or packs of them, from element `at` of the pieces on; grid-stride loop.
template <class T, class Unit, Into into>
__device__ void add_units(const Pieces& pieces, std::int64_t at, std::int64_t count) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < count; i += threads) {
    const auto unit = [&](int shard) { return reinterpret_cast<Unit*>(static_cast<T*>(pieces.data[shard]) + at) + i; };
    Unit sum{};
#pragma unroll 4
    for (int shard = 0; shard < pieces.shards; ++shard) add(sum, *unit(shard));
    if constexpr (into == Into::own)
      *unit(pieces.own) = sum;
    else
      for (int step = 0; step < pieces.shards; ++step)  // every device starts with a different one (no contention)
        *unit((pieces.own + step) % pieces.shards) = sum;
  }
}

/// `head` values until packs are aligned in all buffers, the packs, and the tail.
template <class T, Into into>
__global__ void __launch_bounds__(block_size)
    add_pieces(Pieces pieces, std::int64_t head, std::int64_t packs, std::int64_t size, BarrierView barrier) {
  const std::int64_t packed = packs * Pack<T>::size;
  begin_together(barrier);
  add_units<T, T, into>(pieces, 0, head);
  add_units<T, Pack<T>, into>(pieces, head, packs);
  add_units<T, T, into>(pieces, head + packed, size - head - packed);
  end_together(barrier);
}

/// Values before the first aligned pack; all if the buffers have different alignments.
template <class T>
std::int64_t values_before_packs(const Pieces& pieces, std::int64_t size) {
  const auto beyond = [&](int shard) { return reinterpret_cast<std::uintptr_t>(pieces.data[shard]) % sizeof(Pack<T>); };
  for (int shard = 1; shard < pieces.shards; ++shard)
    if (beyond(shard) != beyond(0)) return size;
  const auto bytes = static_cast<std::int64_t>((sizeof(Pack<T>) - beyond(0)) % sizeof(Pack<T>));
  return std::min(size, bytes / static_cast<std::int64_t>(sizeof(T)));
}

std::int64_t most_blocks(const BarrierView& barrier) { return barrier.shards > 0 ? max_waiting_blocks : max_blocks; }
unsigned blocks_for(std::int64_t threads, std::int64_t most = max_blocks) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(ceil_div<std::int64_t>(threads, block_size), 1, most));
}

struct Transfers {
  Transfer all[max_transfers];
  int count;
};

template <class Unit>
__device__ void copy_units(const Transfer& transfer, std::int64_t begin, std::int64_t stride) {
  const std::int64_t count = transfer.bytes / static_cast<std::int64_t>(sizeof(Unit));
#pragma unroll 4
  for (std::int64_t i = begin; i < count; i += stride)
    static_cast<Unit*>(transfer.target)[i] = static_cast<const Unit*>(transfer.source)[i];
}

/// A transfer's blocks are every count-th, so that loads from all devices are in flight at once.
__global__ void __launch_bounds__(block_size) copy_between(Transfers transfers, BarrierView barrier) {
  begin_together(barrier);
  if (transfers.count > 0) {
    const int blocks = static_cast<int>(gridDim.x) / transfers.count;
    const int block = static_cast<int>(blockIdx.x) / transfers.count;
    const Transfer& mine = transfers.all[static_cast<int>(blockIdx.x) % transfers.count];
    const std::int64_t begin = block * block_size + static_cast<int>(threadIdx.x), stride = blocks * block_size;
    const auto bits = reinterpret_cast<std::uintptr_t>(mine.source) | reinterpret_cast<std::uintptr_t>(mine.target) |
                      static_cast<std::uintptr_t>(mine.bytes);
    if (bits % sizeof(Pack<float>) == 0)
      copy_units<Pack<float>>(mine, begin, stride);
    else if (bits % sizeof(float) == 0)
      copy_units<float>(mine, begin, stride);
    else
      copy_units<std::byte>(mine, begin, stride);
  }
  end_together(barrier);
}

__global__ void join_all(BarrierView barrier) { join(barrier); }

template <class T>
__global__ void __launch_bounds__(block_size) sum_rows(const T* rows, int count, std::int64_t size, T* sums) {
  const std::int64_t threads = std::int64_t{gridDim.x} * block_size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_size + threadIdx.x; i < size; i += threads) {
    T sum = 0;
#pragma unroll 4
    for (int row = 0; row < count; ++row) sum += rows[row * size + i];
    sums[i] = sum;
  }
}

}  // namespace

void add_stamped(Queue& queue, Phase phase, const DeviceView& view, const Buffer& values, unsigned* stamps) {
  if (phase == Phase::whole)
    launch_all_reduce<Phase::whole>(queue, view, values, stamps);
  else if (phase == Phase::send)
    launch_all_reduce<Phase::send>(queue, view, values, stamps);
  else
    launch_all_reduce<Phase::add>(queue, view, values, stamps);
}

void add_piece(Queue& queue, std::span<const Buffer> buffers, std::size_t own, Range piece, Into into,
               const BarrierView& barrier) {
  if (piece.size() == 0 && barrier.shards == 0) return;
  with_sum_type(buffers.front().type, [&]<class T>() {
    Pieces pieces{.shards = static_cast<int>(buffers.size()), .own = static_cast<int>(own)};
    for (std::size_t i = 0; i < buffers.size(); ++i) pieces.data[i] = static_cast<T*>(buffers[i].data) + piece.begin;
    const std::int64_t head = values_before_packs<T>(pieces, piece.size());
    const std::int64_t packs = (piece.size() - head) / Pack<T>::size;
    const auto kernel = into == Into::own ? add_pieces<T, Into::own> : add_pieces<T, Into::all>;
    kernel<<<blocks_for(std::max(packs, head), most_blocks(barrier)), block_size, 0, stream(queue)>>>(
        pieces, head, packs, piece.size(), barrier);
  });
  check_launch();
}

void join_queues(Queue& queue, const BarrierView& barrier) {
  join_all<<<1, warp_size, 0, stream(queue)>>>(barrier);
  check_launch();
}

void copy_transfers(Queue& queue, std::span<const Transfer> transfers, const BarrierView& barrier) {
  Transfers copied{.count = static_cast<int>(transfers.size())};
  std::ranges::copy(transfers, copied.all);
  std::int64_t packs = 0;
  for (const Transfer& one : transfers) packs = std::max(packs, ceil_div<std::int64_t>(one.bytes, sizeof(Pack<float>)));
  const unsigned count = std::max(1U, static_cast<unsigned>(copied.count));
  const unsigned each = blocks_for(packs, most_blocks(barrier) / count);
  copy_between<<<count * each, block_size, 0, stream(queue)>>>(copied, barrier);
  check_launch();
}

void add_rows(Queue& queue, const void* rows, int count, const Buffer& sum) {
  if (sum.size == 0) return;
  with_sum_type(sum.type, [&]<class T>() {
    sum_rows<T><<<blocks_for(sum.size), block_size, 0, stream(queue)>>>(static_cast<const T*>(rows), count, sum.size,
                                                                        static_cast<T*>(sum.data));
  });
  check_launch();
}

}  // namespace league::cuda
