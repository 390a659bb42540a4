// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "backends/communicator.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/cuda/wait.hpp"

/// Barriers between devices, inside kernels, by flags in each other's memory (peer access): one kernel on the device of
/// each shard, run concurrently. One block per device signals, so that the blocks of a kernel need not be resident at
/// once.
namespace league::cuda {

struct BarrierView {
  unsigned* arrived[DeviceView::max_shards];  ///< on the device of each shard, [shards]: barriers that each is at
  unsigned* passed;                           ///< on the own device: barriers, and blocks at the end of this kernel
  int shards = 0, self = 0;                   ///< 0 shards: no barrier, events order the kernels
};

/// The barriers of one queue of every shard.
class Barriers {
 public:
  explicit Barriers(std::span<Queue* const> queues) {
    const auto shards = static_cast<std::int64_t>(queues.size());
    BarrierView view{.shards = static_cast<int>(shards)};
    for (Queue* queue : queues) {
      Array<unsigned>& made = counters_.emplace_back(*queue, shards + 2);
      made.clear();
      queue->fence();
      view.arrived[counters_.size() - 1] = made.data();
    }
    for (const Array<unsigned>& made : counters_) {
      view.passed = made.data() + shards;
      views_.push_back(view);
      ++view.self;
    }
  }
  [[nodiscard]] const BarrierView& view(std::size_t shard) const { return views_[shard]; }

 private:
  std::vector<Array<unsigned>> counters_;
  std::vector<BarrierView> views_;
};

/// Tells `shard` that this one is at a barrier.
__device__ inline void arrive(const BarrierView& view, int shard, unsigned barrier) {
  store_release(view.arrived[shard] + view.self, barrier);
}
/// A faster shard may be at the next barrier already.
__device__ inline void wait_for(const BarrierView& view, int shard, unsigned barrier) {
  const unsigned* arrived = view.arrived[view.self] + shard;
  wait_until([&] { return static_cast<int>(load_acquire(arrived) - barrier) >= 0; });
}

/// The barrier of that number, by the threads of one block: a shard each.
__device__ inline void meet(const BarrierView& view, unsigned barrier) {
  const int shard = static_cast<int>(threadIdx.x);
  if (shard < view.shards && shard != view.self) {
    arrive(view, shard, barrier);
    wait_for(view, shard, barrier);
  }
  __syncthreads();
}

/// One barrier. All threads of a single block call: later work of the queue sees what the others' earlier work wrote.
__device__ inline void join(const BarrierView& view) {
  const unsigned barrier = view.passed[0] + 1;
  meet(view, barrier);
  if (threadIdx.x == 0) view.passed[0] = barrier;
}

/// The barrier at the beginning of a kernel, the first of two. All threads of the grid call: afterwards they see what
/// the others' earlier work wrote. Without shards: none.
__device__ inline void begin_together(const BarrierView& view) {
  const int shard = static_cast<int>(threadIdx.x);
  if (shard < view.shards && shard != view.self) {
    const unsigned barrier = view.passed[0] + 1;
    if (blockIdx.x == 0) arrive(view, shard, barrier);
    wait_for(view, shard, barrier);
  }
  __syncthreads();
}

/// The barrier at its end. All threads of the grid call: later work of all queues sees what these kernels wrote.
__device__ inline void end_together(const BarrierView& view) {
  if (view.shards == 0) return;
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    is_last = atomicAdd(view.passed + 1, 1U) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!is_last) return;
  const unsigned barrier = view.passed[0] + 2;
  meet(view, barrier);
  if (threadIdx.x > 0) return;
  view.passed[0] = barrier;
  view.passed[1] = 0;
}

}  // namespace league::cuda
