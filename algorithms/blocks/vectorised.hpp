// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Before a loop over neighbouring elements: GCC keeps it a loop until it has vectorised it. It unrolls loops of up to
/// 16 iterations completely before that, and vectorises little of what remains. Compilers of GPUs unroll as they like.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__HIP__)
#define LEAGUE_VECTORISED _Pragma("GCC unroll 1")
#else
#define LEAGUE_VECTORISED
#endif

/// Before a kernel: GCC inlines all that it calls, bodies of `unrolled` among it, so that sums stay in registers.
/// Compilers of GPUs do so by themselves.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__HIP__)
#define LEAGUE_FLAT [[gnu::flatten]]
#else
#define LEAGUE_FLAT
#endif
