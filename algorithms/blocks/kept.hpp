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

/// The same of the address of shared memory, aligned to `alignment` bytes. nvcc computes that of a Kokkos team's
/// scratch memory where it is used, in 25 instructions that read special registers, and in loops each time again.
template <int alignment, class T>
LEAGUE_FUNCTION T* kept_shared(T* memory) {
#if defined(__CUDA_ARCH__)
  const unsigned address = kept(static_cast<unsigned>(__cvta_generic_to_shared(memory)));
  return static_cast<T*>(__builtin_assume_aligned(__cvta_shared_to_generic(address), alignment));
#else
  return memory;
#endif
}

}  // namespace league::blocks
