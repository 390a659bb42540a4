// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Marks a function callable from host code and from kernels of every model. (The one macro of the project: C++ has no
/// equivalent.)
#if defined(__CUDACC__) || defined(__HIPCC__)
#define LEAGUE_FUNCTION __host__ __device__ inline __attribute__((always_inline))
#else
#define LEAGUE_FUNCTION inline __attribute__((always_inline))
#endif
