// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Before a loop: GPU compilers keep it a loop. nvcc unrolls a loop over steps of a matrix unit in one model and not in
/// the other, which costs registers and instruction cache.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define LEAGUE_NO_UNROLL _Pragma("unroll 1")
#else
#define LEAGUE_NO_UNROLL
#endif
