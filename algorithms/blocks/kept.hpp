// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include "backends/portable.hpp"

namespace league::blocks {

/// `value`, which GPU compilers keep in a register: they do not compute it again where it is used. nvcc hoists products
/// that do not change out of a loop in one model, and recomputes them in every iteration in the other.
template <class T>
LEAGUE_FUNCTION T kept(T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, double>)
    asm volatile("" : "+d"(value));
  else if constexpr (std::is_same_v<T, float>)
    asm volatile("" : "+f"(value));
  else
    asm volatile("" : "+r"(value));
#elif defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

}  // namespace league::blocks
