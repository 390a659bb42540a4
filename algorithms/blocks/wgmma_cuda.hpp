// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"

namespace league::blocks::mma {

#if defined(__CUDACC__)
// Inline assembly cannot take its text and operands from a template: macros write them out.
#define LEAGUE_SUMS_64                                                               \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LEAGUE_SUMS_128                                                                          \
  LEAGUE_SUMS_64                                                                                 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "           \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LEAGUE_4(kind, i) kind(d[i]), kind(d[i + 1]), kind(d[i + 2]), kind(d[i + 3])
#define LEAGUE_16(kind, i) LEAGUE_4(kind, i), LEAGUE_4(kind, i + 4), LEAGUE_4(kind, i + 8), LEAGUE_4(kind, i + 12)
#define LEAGUE_64(kind, i) LEAGUE_16(kind, i), LEAGUE_16(kind, i + 16), LEAGUE_16(kind, i + 32), LEAGUE_16(kind, i + 48)
/// `names`, `operands`, `add_`: of the sums, of a and b, of add.
#define LEAGUE_WGMMA_OF(shape, names, operands, add_, type, last, ...)                                           \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " add_ ", 0; wgmma.mma_async.sync.aligned." shape type " {" names \
               "}, " operands ", p" last "; }"                                                                   \
               : __VA_ARGS__                                                                                     \
               : "l"(a), "l"(b), "r"(static_cast<int>(add)))
/// d = a b + (add ? d : 0). `kind`: constraint of the sums' registers; `last`: the immediate operands at the end.
#define LEAGUE_WGMMA(type, kind, last)                                                                  \
  {                                                                                                     \
    if constexpr (columns == 128)                                                                       \
      LEAGUE_WGMMA_OF("m64n128", LEAGUE_SUMS_64, "%64, %65", "%66", type, last, LEAGUE_64(kind, 0));    \
    else                                                                                                \
      LEAGUE_WGMMA_OF("m64n256", LEAGUE_SUMS_128, "%128, %129", "%130", type, last, LEAGUE_64(kind, 0), \
                      LEAGUE_64(kind, 64));                                                             \
  }
#endif

/// `wgmma` of Hopper (sm_90a): a warpgroup (four warps, 128 threads) has 64 x 256 or 64 x 128 sums; both operands are
/// core matrices in shared memory.
template <Element element_, int columns_ = 256>
struct Warpgroup : UnitOf<element_>, CoreMatrices {
  using typename UnitOf<element_>::Sum;
  static constexpr int lanes = 32, share = piece_words / lanes;  ///< lanes that pack a piece
  static_assert(columns_ == 128 || columns_ == 256);
  static constexpr int threads = 128, rows = 64, columns = columns_, sums = rows * columns / threads, run = 2,
                       sum_rows = 2;
  LEAGUE_FUNCTION static constexpr int row(int thread, int i) {
    return thread / lanes * side + thread % lanes / 4 + i / 2 % 2 * core_rows;
  }
  LEAGUE_FUNCTION static constexpr int column(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }
  LEAGUE_FUNCTION static constexpr int sum_at(int row, int n) { return n / 2 * 4 + row * 2 + n % 2; }

#if defined(__CUDACC__)
  /// Lower half of the matrix descriptor of rows in pieces, stacked, at this shared-memory address. Addresses and
  /// strides are in units of 16 bytes.
  __device__ static unsigned described(unsigned address) {
    constexpr unsigned next_words = 128 / 16;
    return (address / 16 & 0x3fff) | next_words << 16;
  }
  /// Begins d = a b + (add ? d : 0). @pre all threads call, between `begin` and `close`
  __device__ static void multiply(Sum (&d)[sums], unsigned low_a, unsigned low_b, bool add = true) {
    constexpr std::uint64_t next_rows = 256 / 16;
    const std::uint64_t a = low_a | next_rows << 32, b = low_b | next_rows << 32;
    if constexpr (element_ == Element::tf32) LEAGUE_WGMMA("k8.f32.tf32.tf32", "+f", ", 1, 1")
    if constexpr (element_ == Element::f16) LEAGUE_WGMMA("k16.f32.f16.f16", "+f", ", 1, 1, 0, 0")
    if constexpr (element_ == Element::bf16) LEAGUE_WGMMA("k16.f32.bf16.bf16", "+f", ", 1, 1, 0, 0")
    if constexpr (element_ == Element::u8) LEAGUE_WGMMA("k32.s32.u8.u8", "+r", "")
    if constexpr (element_ == Element::s8) LEAGUE_WGMMA("k32.s32.s8.s8", "+r", "")
  }
  /// Before the first product that uses registers written by other instructions (wgmma.fence).
  __device__ static void begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
  /// Ends a batch of products.
  __device__ static void close() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
  /// Waits until at most the last `left` batches are pending.
  template <int left>
  __device__ static void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
  }
#endif
};

#if defined(__CUDACC__)
#undef LEAGUE_SUMS_64
#undef LEAGUE_SUMS_128
#undef LEAGUE_4
#undef LEAGUE_16
#undef LEAGUE_64
#undef LEAGUE_WGMMA_OF
#undef LEAGUE_WGMMA
#endif

}  // namespace league::blocks::mma
