// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

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

namespace league::blocks {

/// The sum of the first `n` of some values side by side, in a tree that compilers vectorise; it overwrites them. `n`: a
/// power of two.
template <int n, int all>
LEAGUE_FUNCTION float folded(float (&values)[all]) {
  if constexpr (n > 1) {
    LEAGUE_VECTORISED
    for (int k = 0; k < n / 2; ++k) values[k] += values[k + n / 2];
    return folded<n / 2>(values);
  }
  return values[0];
}

}  // namespace league::blocks
