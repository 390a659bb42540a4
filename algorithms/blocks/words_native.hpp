// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/words.hpp"

#if defined(__AVX2__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#include <immintrin.h>
#define LEAGUE_AVX2 1
#endif

namespace league::blocks {

/// `PlainWords` with instructions of CUDA devices and of x86 hosts; elsewhere the same as that.
struct NativeWords : PlainWords {
  using PlainWords::load_once;
  using PlainWords::store_streaming;
  using PlainWords::widen;

#if defined(__CUDA_ARCH__)
  /// u8 to f32 by magic number (PRMT puts the byte into the significand of 2^23) for the inner two of four bytes; I2F,
  /// one instruction but a slow unit, for the outer two.
  __device__ static Pack<float> widen(std::uint32_t word) {
    return {{static_cast<float>(word & 0xff), __uint_as_float(__byte_perm(word, 0x4b000000U, 0x7651)) - 8388608.0F,
             __uint_as_float(__byte_perm(word, 0x4b000000U, 0x7652)) - 8388608.0F, static_cast<float>(word >> 24)}};
  }
  /// Bypasses L1 (ld.global.cg).
  __device__ static std::uint32_t load_once(const std::uint32_t* from) { return __ldcg(from); }
  __device__ static Pack<float> load_once(const Pack<float>* from) {
    const float4 word = __ldcg(reinterpret_cast<const float4*>(from));
    return {{word.x, word.y, word.z, word.w}};
  }
  /// st.global.cs: the first to be evicted from the caches.
  template <class T>
  __device__ static void store_streaming(Pack<T>* to, const Pack<T>& value) {
    __stcs(reinterpret_cast<float4*>(to), reinterpret_cast<const float4&>(value));
  }
#endif

#if defined(LEAGUE_AVX2)
  template <class Vector>
  static Vector widen_bytes(const std::uint8_t* from) {
#if defined(__AVX512F__)
    return _mm512_maskz_cvtepi32_ps(
        0xffff, _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
  }
  /// Non-temporal: avoids the read for ownership of an ordinary store.
  template <class T, int bytes>
  static void store_streaming(Pack<T, bytes>* to, const Pack<T, bytes>& value) {
#if defined(__AVX512F__)
    using Vector = __m512i;
    for (int i = 0; i < bytes / 64; ++i)
      _mm512_stream_si512(reinterpret_cast<Vector*>(to) + i,
                          _mm512_load_si512(reinterpret_cast<const Vector*>(&value) + i));
#else
    using Vector = __m256i;
    for (int i = 0; i < bytes / 32; ++i)
      _mm256_stream_si256(reinterpret_cast<Vector*>(to) + i,
                          _mm256_load_si256(reinterpret_cast<const Vector*>(&value) + i));
#endif
    static_assert(bytes % sizeof(Vector) == 0);
  }
  static void finish_streaming() { _mm_sfence(); }
#endif
};

}  // namespace league::blocks

#undef LEAGUE_AVX2
