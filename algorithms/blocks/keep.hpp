// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::blocks {

/// `value`, which a GPU compiler keeps in a register. nvcc computes values again inside of loops to save registers,
/// even a count that takes 280 cycles.
LEAGUE_FUNCTION int keep(int value) {
#if defined(__CUDA_ARCH__)
  asm volatile("mov.b32 %0, %0;" : "+r"(value));
#endif
  return value;
}

}  // namespace league::blocks
