// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Marks a function that host code and kernels of every model call. (The one macro of the project: C++ has no word for
/// it.)
#if defined(__CUDACC__) || defined(__HIPCC__)
#define LEAGUE_FUNCTION __host__ __device__ inline __attribute__((always_inline))
#else
#define LEAGUE_FUNCTION inline __attribute__((always_inline))
#endif
