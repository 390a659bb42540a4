// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"

namespace league::blocks::mma {

/// MFMA of AMD's GPUs since gfx90a: a wavefront of 64 has the tile. Compiled and linked only, never run. No u8; tf32
/// and f32 multiply in fp32. Lane 16 q + r has words q and q + 4 of row r: the instruction may number the depth
/// differently, as long as A and B agree.
template <Element element_>
struct Wavefront : UnitOf<element_> {
  static_assert(element_ != Element::u8, "MFMA has no unsigned bytes");
  using Unit = UnitOf<element_>;
  using typename Unit::Sum, typename Unit::Word;
  static constexpr int lanes = 64, sums = side * side / lanes, share = piece_words / lanes, run = 1, lane_rows = 1;
  static constexpr int quarters = lanes / side, sum_rows = sums;
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int offset(int row, int word) {
    return (word % quarters * side + row) * share + word / quarters;
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr Place word_of(int lane, int i) {
    return {lane % side, lane / side + i * quarters};
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int lane_row(int /*i*/) {
    return 0;
  }
  LEAGUE_FUNCTION static constexpr int row(int lane, int i) {
    return element_ == Element::f64 ? lane / side + i * quarters : lane / side * sums + i;
  }
  LEAGUE_FUNCTION static constexpr int column(int lane, int /*i*/) { return lane % side; }
  LEAGUE_FUNCTION static constexpr int sum_at(int row, int /*n*/) { return row; }

  struct alignas(sizeof(Word) * share) fragment_a {
    Word word[share];
  };
  using fragment_b = fragment_a;
  typedef Sum Vector __attribute__((vector_size(sums * sizeof(Sum))));
  struct fragment_c {
    Vector sum = {};
  };
  LEAGUE_FUNCTION static void load(fragment_a& fragment, const Word* piece, int lane) {
    fragment = *reinterpret_cast<const fragment_a*>(piece + lane * share);
  }
  LEAGUE_FUNCTION static void mma_sync([[maybe_unused]] fragment_c& c, [[maybe_unused]] const fragment_a& a,
                                       [[maybe_unused]] const fragment_b& b) {
#if defined(__HIP_DEVICE_COMPILE__)
    typedef _Float16 Halves __attribute__((vector_size(8)));
    typedef short Shorts __attribute__((vector_size(8)));
    const auto as = []<class T>(const auto& from, T) {
      T to;
      static_assert(sizeof to == sizeof from);
      __builtin_memcpy(&to, &from, sizeof to);
      return to;
    };
    if constexpr (element_ == Element::f16)
      c.sum = __builtin_amdgcn_mfma_f32_16x16x16f16(as(a.word, Halves{}), as(b.word, Halves{}), c.sum, 0, 0, 0);
    if constexpr (element_ == Element::bf16)
      c.sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as(a.word, Shorts{}), as(b.word, Shorts{}), c.sum, 0, 0, 0);
#if defined(__gfx90a__)
    if constexpr (element_ == Element::s8)
      for (int i = 0; i < share; ++i)
        c.sum = __builtin_amdgcn_mfma_i32_16x16x16i8(as(a.word[i], 0), as(b.word[i], 0), c.sum, 0, 0, 0);
#else
    if constexpr (element_ == Element::s8)
      c.sum = __builtin_amdgcn_mfma_i32_16x16x32_i8(as(a.word, 0L), as(b.word, 0L), c.sum, 0, 0, 0);
#endif
    if constexpr (element_ == Element::tf32 || element_ == Element::f32)
      for (int i = 0; i < share; ++i)
        c.sum = __builtin_amdgcn_mfma_f32_16x16x4f32(as(a.word[i], 0.0F), as(b.word[i], 0.0F), c.sum, 0, 0, 0);
    if constexpr (element_ == Element::f64)
      for (int i = 0; i < share; ++i)
        c.sum = __builtin_amdgcn_mfma_f64_16x16x4f64(as(a.word[i], 0.0), as(b.word[i], 0.0), c.sum, 0, 0, 0);
#endif
  }
  LEAGUE_FUNCTION static void values(const fragment_c& c, Sum (&out)[sums]) {
    for (int i = 0; i < sums; ++i) out[i] = c.sum[i];
  }
  template <class T>
  LEAGUE_FUNCTION static T shuffle(T value, [[maybe_unused]] int lane) {
#if defined(__HIP_DEVICE_COMPILE__)
    int ints[sizeof(T) / sizeof(int)];
    __builtin_memcpy(ints, &value, sizeof value);
    for (int& part : ints) part = __builtin_amdgcn_ds_bpermute(lane * static_cast<int>(sizeof(int)), part);
    __builtin_memcpy(&value, ints, sizeof value);
    return value;
#else
    return value;
#endif
  }
  LEAGUE_FUNCTION static bool any(bool condition) {
#if defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_ballot_w64(condition) != 0;
#else
    return condition;
#endif
  }
  LEAGUE_FUNCTION static void sync() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
  }
};

}  // namespace league::blocks::mma
