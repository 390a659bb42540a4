// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include "algorithms/blocks/pack.hpp"

namespace league::blocks {

/// The roots of a cache line of values, correctly rounded. (`std::sqrt` sets errno, which keeps a compiler from
/// vectors.)
template <class T>
LEAGUE_FUNCTION void roots(Pack<T, 64>& values) {
#if defined(__AVX512F__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  if constexpr (sizeof(T) == 4)
    _mm512_store_ps(values.values, _mm512_maskz_sqrt_ps(0xffff, _mm512_load_ps(values.values)));
  else
    _mm512_store_pd(values.values, _mm512_maskz_sqrt_pd(0xff, _mm512_load_pd(values.values)));
#elif defined(__AVX__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  for (int i = 0; i < Pack<T, 64>::size; i += 32 / static_cast<int>(sizeof(T)))
    if constexpr (sizeof(T) == 4)
      _mm256_store_ps(values.values + i, _mm256_sqrt_ps(_mm256_load_ps(values.values + i)));
    else
      _mm256_store_pd(values.values + i, _mm256_sqrt_pd(_mm256_load_pd(values.values + i)));
#else
  using std::sqrt;
  for (T& value : values.values) value = sqrt(value);
#endif
}

}  // namespace league::blocks
