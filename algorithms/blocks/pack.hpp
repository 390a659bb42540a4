// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

// The compiler's words for stores past the caches of a host; GPU compilers have their own (pack_cuda.hpp).
#if defined(__AVX__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#include <immintrin.h>
#define LEAGUE_HOST_STREAMS 1
#endif

namespace league::blocks {

/// Neighbouring elements that are moved together: one access of a GPU thread (16 bytes), one cache line of a host (64).
template <class T, int bytes = 16>
struct alignas(bytes) Pack {
  static constexpr int size = bytes / static_cast<int>(sizeof(T));
  T values[size];
  LEAGUE_FUNCTION Pack operator+(const Pack& other) const {
    Pack sum;
    for (int i = 0; i < size; ++i) sum.values[i] = values[i] + other.values[i];
    return sum;
  }
};

/// Stores what is not read again soon. On an x86 host the line is not read first, which an ordinary store does.
template <class T, int bytes>
LEAGUE_FUNCTION void store_streaming(Pack<T, bytes>* to, const Pack<T, bytes>& value) {
#if defined(LEAGUE_HOST_STREAMS) && defined(__AVX512F__)
  if constexpr (bytes % 64 == 0) {
    for (int i = 0; i < bytes / 64; ++i)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to) + i,
                          _mm512_load_si512(reinterpret_cast<const __m512i*>(&value) + i));
    return;
  }
#endif
#if defined(LEAGUE_HOST_STREAMS)
  if constexpr (bytes % 32 == 0) {
    for (int i = 0; i < bytes / 32; ++i)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + i,
                          _mm256_load_si256(reinterpret_cast<const __m256i*>(&value) + i));
    return;
  }
#endif
  *to = value;
}

/// Makes a host thread's streamed stores visible to the others; nothing elsewhere.
LEAGUE_FUNCTION void finish_streaming() {
#if defined(LEAGUE_HOST_STREAMS)
  _mm_sfence();
#endif
}

#undef LEAGUE_HOST_STREAMS

}  // namespace league::blocks
