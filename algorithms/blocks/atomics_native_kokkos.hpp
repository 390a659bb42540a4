// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// Atomic operations, the native ones on GPUs: on scratch memory they compile to instructions for shared memory
/// (ATOMS), while those of Kokkos 4.7 take addresses of any memory (ATOM), which is slower.
struct NativeAtomics {
  /// @returns the old value
  template <class T>
  KOKKOS_FUNCTION static T add(T* to, T value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    return atomicAdd(to, value);
#else
    return Kokkos::atomic_fetch_add(to, value);
#endif
  }
  KOKKOS_FUNCTION static void min(int* to, int value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    atomicMin(to, value);
#else
    Kokkos::atomic_min(to, value);
#endif
  }
  template <class T>
  KOKKOS_FUNCTION static void max(T* to, T value) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
    atomicMax(to, value);
#else
    Kokkos::atomic_max(to, value);
#endif
  }
};

}  // namespace league::blocks
