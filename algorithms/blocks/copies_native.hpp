// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/copies.hpp"

namespace league::blocks {

/// `PlainCopies` by cp.async, which bypasses registers, on Ampere and newer.
struct NativeCopies : PlainCopies {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __device__ static void copy(Packet* to, const Packet* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
  }
  __device__ static void close() { asm volatile("cp.async.commit_group;" ::: "memory"); }
  template <int left>
  __device__ static void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
  }
#endif
};

}  // namespace league::blocks
