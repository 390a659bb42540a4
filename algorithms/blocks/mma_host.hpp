// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/blocks/unrolled.hpp"

#if defined(__AVX512F__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#include <immintrin.h>
#endif

namespace league::blocks::mma {

/// A host thread has the tile, a vector register per row of sums, where the processor has dot-product instructions for
/// the type. Plain code elsewhere.
template <Element element>
struct Thread : Scalar<element> {};

#if defined(__AVX512VNNI__) && !defined(__CUDACC__) && !defined(__HIPCC__)

/// AVX-512 VNNI (vpdpbusd) multiplies unsigned by signed bytes. B is shifted by 128 to the other signedness than A's;
/// `offset`, 128 times the row sum of A, is subtracted at the end.
template <Element element_>
struct VnniThread : Scalar<element_> {
  static_assert(element_ == Element::u8 || element_ == Element::s8);
  using typename Scalar<element_>::Word, typename Scalar<element_>::fragment_a, typename Scalar<element_>::fragment_b;
  static constexpr int sums = Scalar<element_>::sums;

  struct fragment_c {
    __m512i sum[side] = {}, offset = {};  ///< offset: per row
  };
  LEAGUE_FUNCTION static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    const __m512i flip = _mm512_set1_epi8(static_cast<char>(0x80));  // 128 unsigned, -128 signed
    unrolled<words>([&](int word) {  // GCC 12 copies all sums in every iteration of a loop
      const __m512i x = _mm512_loadu_si512(a.piece + word * side);
      const __m512i y = _mm512_xor_si512(_mm512_loadu_si512(b.piece + word * side), flip);
      c.offset = add(c.offset, x, flip);
      unrolled<side>([&](int row) {
        std::int32_t of_row;
        __builtin_memcpy(&of_row, a.piece + word * side + row, sizeof of_row);
        c.sum[row] = add(c.sum[row], _mm512_set1_epi32(of_row), y);
      });
    });
  }
  LEAGUE_FUNCTION static void values(const fragment_c& c, std::int32_t (&out)[sums]) {
    alignas(64) std::int32_t offset[side];
    _mm512_store_si512(offset, c.offset);
    for (int row = 0; row < side; ++row)
      _mm512_storeu_si512(out + row * side, _mm512_sub_epi32(c.sum[row], _mm512_set1_epi32(offset[row])));
  }

 private:
  /// `a` unchanged, `b` shifted.
  LEAGUE_FUNCTION static __m512i add(__m512i sum, __m512i a, __m512i b) {
    return element_ == Element::u8 ? _mm512_dpbusd_epi32(sum, a, b) : _mm512_dpbusd_epi32(sum, b, a);
  }
};
template <>
struct Thread<Element::u8> : VnniThread<Element::u8> {};
template <>
struct Thread<Element::s8> : VnniThread<Element::s8> {};
#endif

#if !defined(__CUDACC__) && !defined(__HIPCC__)
/// GCC vector extensions; two rows of sums stay in registers over the depth.
template <>
struct Thread<Element::f64> : Scalar<Element::f64> {
  LEAGUE_FUNCTION static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    typedef double Vector __attribute__((vector_size(32)));
    constexpr int together = 2, lanes = 4, vectors = side / lanes;
    for (int row = 0; row < side; row += together) {
      Vector sum[together][vectors];
      __builtin_memcpy(sum, c.sum + row * side, sizeof sum);
      for (int word = 0; word < words; ++word) {
        Vector y[vectors];
        double x[together];
        __builtin_memcpy(y, b.piece + word * side, sizeof y);
        __builtin_memcpy(x, a.piece + word * side + row, sizeof x);
        unrolled<together * vectors>([&](int i) { sum[i / vectors][i % vectors] += x[i / vectors] * y[i % vectors]; });
      }
      __builtin_memcpy(c.sum + row * side, sum, sizeof sum);
    }
  }
};
#endif

#if defined(__AVX512F__) && !defined(__CUDACC__) && !defined(__HIPCC__)
/// A row of sums per register; of tf32, the bits that a unit does not read are masked.
template <Element element_>
struct FloatThread : Scalar<element_> {
  using typename Scalar<element_>::fragment_a, typename Scalar<element_>::fragment_b;
  static constexpr int sums = Scalar<element_>::sums;

  struct fragment_c {
    __m512 sum[side] = {};
  };
  LEAGUE_FUNCTION static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    unrolled<words>([&](int word) {
      __m512 y = _mm512_loadu_ps(b.piece + word * side);
      if constexpr (element_ == Element::tf32)
        y = _mm512_castsi512_ps(_mm512_and_si512(_mm512_castps_si512(y), _mm512_set1_epi32(-0x2000)));
      unrolled<side>([&](int row) {
        const float x = Traits<element_>::widen(float_of(a.piece[word * side + row]));
        c.sum[row] = _mm512_fmadd_ps(_mm512_set1_ps(x), y, c.sum[row]);
      });
    });
  }
  LEAGUE_FUNCTION static void values(const fragment_c& c, float (&out)[sums]) {
    for (int row = 0; row < side; ++row) _mm512_storeu_ps(out + row * side, c.sum[row]);
  }
};
template <>
struct Thread<Element::f32> : FloatThread<Element::f32> {};
template <>
struct Thread<Element::tf32> : FloatThread<Element::tf32> {};
#endif

#if defined(__AVX512BF16__) && !defined(__CUDACC__) && !defined(__HIPCC__)
/// AVX-512 BF16 (vdpbf16ps): pairs of products at once; subnormals count as 0.
template <>
struct Thread<Element::bf16> : Scalar<Element::bf16> {
  struct fragment_c {
    __m512 sum[side] = {};
  };
  LEAGUE_FUNCTION static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    unrolled<words>([&](int word) {
      const auto y = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b.piece + word * side));
      unrolled<side>([&](int row) {
        std::int32_t x;
        __builtin_memcpy(&x, a.piece + word * side + row, sizeof x);
        c.sum[row] = _mm512_dpbf16_ps(c.sum[row], reinterpret_cast<__m512bh>(_mm512_set1_epi32(x)), y);
      });
    });
  }
  LEAGUE_FUNCTION static void values(const fragment_c& c, float (&out)[sums]) {
    for (int row = 0; row < side; ++row) _mm512_storeu_ps(out + row * side, c.sum[row]);
  }
};
#endif

}  // namespace league::blocks::mma
