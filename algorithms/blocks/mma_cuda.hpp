// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"

namespace league::blocks::mma {

#if defined(__CUDA_ARCH__)
// C [16 x 8] += A [16 x 32 bytes] B^T [8 x 32 bytes]: in PTX, with the manual's register order.
template <Element>
struct Instruction;
template <>
struct Instruction<Element::u8> {
  __device__ static void add(std::int32_t* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <>
struct Instruction<Element::s8> {
  __device__ static void add(std::int32_t* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <>
struct Instruction<Element::f16> {
  __device__ static void add(float* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <>
struct Instruction<Element::bf16> {
  __device__ static void add(float* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
template <>
struct Instruction<Element::tf32> {
  __device__ static void add(float* c, const std::uint32_t* a, std::uint32_t b0, std::uint32_t b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
};
/// The same with 8-byte words: m16n8k8 on sm_90, else four m8n8k4.
template <>
struct Instruction<Element::f64> {
  __device__ static void add(double* c, const std::uint64_t* a, std::uint64_t b0, std::uint64_t b1) {
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(real(a[0])), "d"(real(a[1])), "d"(real(a[2])), "d"(real(a[3])), "d"(real(b0)), "d"(real(b1)));
#else
    for (int half = 0; half < 2; ++half)
      for (int step = 0; step < 2; ++step)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
            : "d"(real(a[half + 2 * step])), "d"(real(step == 0 ? b0 : b1)));
#endif
  }
  __device__ static double real(std::uint64_t word) { return __longlong_as_double(static_cast<long long>(word)); }
};
#endif

/// `mma.sync` of NVIDIA's GPUs since Ampere: a warp has the tile, as two products m16n8. Lane 4 r + w has words w and w
/// + 4 of rows r and r + 8 of a piece: four consecutive registers of A, or two pairs of B. f32 and f64 have one order
/// for both, so that the same pieces can be A and B: f32 converts its registers, for f64 they are not the bottleneck.
template <Element element_>
struct Warp : UnitOf<element_> {
  using Unit = UnitOf<element_>;
  using typename Unit::Sum, typename Unit::Word;
  static constexpr int rows = side / 2, quad = words / 2;
  static constexpr int lanes = rows * quad, sums = side * side / lanes, share = piece_words / lanes, run = 2,
                       lane_rows = 2, sum_rows = 2;
  static constexpr bool alike = element_ == Element::f64 || element_ == Element::f32;
  template <Operand operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int offset(int row, int word) {
    const int lane = row % rows * quad + word % quad, low = row / rows, high = word / quad;
    return lane * share + (operand == Operand::a || alike ? low + 2 * high : 2 * low + high);
  }
  template <Operand operand = Operand::a>
  LEAGUE_FUNCTION static constexpr Place word_of(int lane, int i) {
    return {lane / quad + lane_row<operand>(i) * rows,
            lane % quad + (operand == Operand::a || alike ? i / 2 : i % 2) * quad};
  }
  template <Operand operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int lane_row(int i) {
    return operand == Operand::a || alike ? i % 2 : i / 2;
  }
  LEAGUE_FUNCTION static constexpr int row(int lane, int i) { return lane / quad + i / 2 % 2 * rows; }
  LEAGUE_FUNCTION static constexpr int column(int lane, int i) { return lane % quad * 2 + i % 2 + i / 4 * rows; }
  LEAGUE_FUNCTION static constexpr int sum_at(int row, int n) { return n / 2 * 4 + row * 2 + n % 2; }

  struct alignas(16) fragment_a {
    Word word[share];
  };
  using fragment_b = fragment_a;
  struct fragment_c {
    Sum sum[sums] = {};
  };
  LEAGUE_FUNCTION static void load(fragment_a& fragment, const Word* piece, int lane) {
    fragment = *reinterpret_cast<const fragment_a*>(piece + lane * share);
  }
  LEAGUE_FUNCTION static void mma_sync([[maybe_unused]] fragment_c& c, [[maybe_unused]] const fragment_a& a,
                                       [[maybe_unused]] const fragment_b& b) {
#if defined(__CUDA_ARCH__)
    constexpr int left = alike ? 2 : 1, right = alike ? 1 : 2;
    Instruction<element_>::add(c.sum, a.word, b.word[0], b.word[left]);
    Instruction<element_>::add(c.sum + sums / 2, a.word, b.word[right], b.word[3]);
#endif
  }
  LEAGUE_FUNCTION static void values(const fragment_c& c, Sum (&out)[sums]) {
    for (int i = 0; i < sums; ++i) out[i] = c.sum[i];
  }
  template <class T>
  LEAGUE_FUNCTION static T shuffle(T value, [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__)
    return __shfl_sync(0xffffffffU, value, lane);
#else
    return value;
#endif
  }
  LEAGUE_FUNCTION static bool any(bool condition) {
#if defined(__CUDA_ARCH__)
    return __any_sync(0xffffffffU, condition) != 0;
#else
    return condition;
#endif
  }
  LEAGUE_FUNCTION static void sync() {
#if defined(__CUDA_ARCH__)
    __syncwarp();
#endif
  }
};

/// f16 in core matrices. `ldmatrix` loads them in the order of A or of B, so that the same pieces can be both.
struct WarpMatrices : Warp<Element::f16>, CoreMatrices {
  using Base = Warp<Element::f16>;
  using CoreMatrices::lane_row, CoreMatrices::lane_rows, CoreMatrices::offset, CoreMatrices::word_of;

  struct fragment_b : fragment_a {};
  /// @pre on a GPU, the piece is in scratch
  LEAGUE_FUNCTION static void load(fragment_a& fragment, const Word* piece, int lane) {
    load_as<Operand::a>(fragment, piece, lane);
  }
  LEAGUE_FUNCTION static void load(fragment_b& fragment, const Word* piece, int lane) {
    load_as<Operand::b>(fragment, piece, lane);
  }

 private:
  template <Operand operand>
  LEAGUE_FUNCTION static void load_as(fragment_a& fragment, const Word* piece, int lane) {
#if defined(__CUDA_ARCH__)
    const int to = lane / rows;  // ldmatrix: the register of the matrix whose row address this lane gives
    const Word* row = piece + (operand == Operand::a ? to % 2 * 2 + to / 2 : to) * matrix_words + lane % rows * quad;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(fragment.word[0]), "=r"(fragment.word[1]), "=r"(fragment.word[2]), "=r"(fragment.word[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
#else
    for (int i = 0; i < share; ++i) {
      const Place place = Base::word_of<operand>(lane, i);
      fragment.word[i] = piece[offset(place.row, place.word)];
    }
#endif
  }
};

/// Floats as sums of two tf32, high and low, each rounded to the nearest: three products, low x low left out. The error
/// is at most 2^-21 |a| |b| per product: 2^-22 for low x low, as much for rounding the low parts. Pieces of A and B
/// have the same order.
template <>
struct Warp<Element::f32> : Warp<Element::tf32> {
  using Base = Warp<Element::tf32>;
  static constexpr Element element = Element::f32;
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int offset(int row, int word) {
    return Base::offset(row, word);
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr Place word_of(int lane, int i) {
    return Base::word_of(lane, i);
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int lane_row(int i) {
    return Base::lane_row(i);
  }

  LEAGUE_FUNCTION static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    fragment_a high_a, low_a, high_b, low_b;
    for (int i = 0; i < share; ++i) {
      const int in_b = i % 2 * 2 + i / 2;  // the order of B
      split(a.word[i], high_a.word[i], low_a.word[i]);
      split(b.word[i], high_b.word[in_b], low_b.word[in_b]);
    }
    Base::mma_sync(c, low_a, high_b);
    Base::mma_sync(c, high_a, low_b);
    Base::mma_sync(c, high_a, high_b);
  }

 private:
  LEAGUE_FUNCTION static void split(Word word, Word& high, Word& low) {
    const float value = float_of(word), rounded = round(value);
    high = bits_of(rounded);
    low = bits_of(round(value - rounded));
  }
  LEAGUE_FUNCTION static float round(float value) { return Traits<Element::tf32>::narrow(value); }
};

}  // namespace league::blocks::mma
