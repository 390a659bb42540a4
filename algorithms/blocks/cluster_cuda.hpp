// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// Thread block clusters of Hopper: barriers in shared memory that count arrivals and bytes, and bulk copies into the
/// shared memory of several blocks at once. For plain sm_90, in PTX: CUDA C++ has no intrinsics for it.
namespace league::blocks::cluster {

__device__ inline unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
/// The address in the shared memory of another block of the cluster that is at the same offset (mapa).
__device__ inline unsigned in_block(unsigned address, int block) {
  unsigned there = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
/// This block's number in its cluster.
__device__ inline int block() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// Waits for all threads of the cluster; what they have written to shared memory is then seen by all.
__device__ inline void barrier() {
  asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
}

/// An mbarrier: 8 bytes of shared memory at `address`. A phase ends when `count` threads have arrived and all expected
/// bytes have been copied.
struct Barrier {
  static constexpr int bytes = 8;
  unsigned address;

  __device__ void init(int count) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(count) : "memory");
  }
  /// Makes initialised barriers visible to the other blocks of the cluster, after a `barrier()`.
  __device__ static void publish() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
  /// Arrives, and adds to the bytes that the phase expects (arrive.expect_tx).
  __device__ void expect(int bytes_to_come) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes_to_come)
                 : "memory");
  }
  /// The barrier at the same offset in another block's shared memory; for arrivals and stores only.
  [[nodiscard]] __device__ Barrier of(int block) const { return {in_block(address, block)}; }
  __device__ void arrive() const {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address) : "memory");
  }
  /// Waits until the phase of this parity has ended.
  __device__ void wait(unsigned parity) const {
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(address), "r"(parity)
                   : "memory");
  }
  /// The barrier `number` places further on.
  __device__ Barrier operator+(int number) const { return {address + static_cast<unsigned>(number * bytes)}; }
};

/// Starts a bulk copy (TMA) of bytes, a multiple of 16, to shared memory of this block; `barrier` counts them.
__device__ inline void copy(unsigned to, const void* from, int bytes, Barrier barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier.address)
               : "memory");
}
/// Multicast: copies to the same offset in each of the first `blocks` blocks of the cluster, whose barriers count the
/// bytes.
__device__ inline void copy_to_all(unsigned to, const void* from, int bytes, Barrier barrier, int blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier.address), "h"(static_cast<std::uint16_t>((1 << blocks) - 1))
      : "memory");
}

/// Stores in the shared memory of another block, whose `barrier` counts the bytes (st.async).
__device__ inline void store(unsigned to, double value, Barrier barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to),
               "l"(__double_as_longlong(value)), "r"(barrier.address)
               : "memory");
}

}  // namespace league::blocks::cluster
