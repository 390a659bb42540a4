// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/portable.hpp"

/// Matrix units inside a team kernel: C += A B^T on 16 x 16 sums, shared by the lanes of a subgroup. The names are
/// those that Kokkos has proposed (kokkos#9332): fragment, load, mma_sync.
///
/// A *piece* is what one instruction's worth of an operand is in memory: 16 rows of A (or of B: columns of the
/// product), 8 words deep. Which word lies where in it is the unit's choice (`Unit::offset`), so that a lane loads its
/// share as one contiguous part. A *unit* is a type that holds
///   lanes, sums, share      threads that share a tile; elements of C and words of a piece that each of them has
///   Word, Sum               what registers hold of A and B; what C is added in
///   offset<operand>(row, word)   where a word of a row lies in a piece [words] of A or of B
///   row(lane, i), column(lane, i)   the place in the tile of element i of a lane
///   run                     so many elements, from a multiple of it on, are neighbours in a row
///   sum_rows, sum_at(row, n)  rows of the tile in which a lane has elements, as many in each; the n-th of one of them
///   word_of<operand>(lane, i)    the {row, word} that is word i of a lane's part of a piece
///   lane_rows, lane_row<operand>(i)   rows of which a lane has words; of which of them word i is
///   fragment_a, fragment_b, fragment_c   of units with one lane, a and b may point to their piece
///   load(fragment, piece, lane), mma_sync(c, a, b), values(c, out)
///   parts                   pieces that hold the same columns of a row: 1, of a `Split` unit 2
/// Files: mma.hpp (Scalar, for every machine), mma_cuda.hpp (mma.sync), mma_hip.hpp (MFMA), mma_host.hpp (AVX-512).
namespace league::blocks::mma {

/// Type of the elements of A and B. f64 words are of 8 bytes, all others of 4. tf32 are floats of which the unit reads
/// 10 bits of the significand; f32 are whole floats, where there is no unit for them as two of tf32.
enum class Element { u8, s8, f16, bf16, tf32, f32, f64 };

inline constexpr int side = 16, words = 8;  ///< rows of a piece; words of its rows
inline constexpr int piece_words = side * words;

/// What a piece is to be. Most units want the words of a lane in another order in A than in B: registers in a row.
enum class Operand { a, b };

/// Of a word in a piece.
struct Place {
  int row, word;
};

// Rounded to the nearest, ties to even; too large becomes infinity, NaN stays one.
LEAGUE_FUNCTION std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
LEAGUE_FUNCTION float float_of(std::uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
/// The bits of a float without the last `drop` bits of its significand.
LEAGUE_FUNCTION std::uint32_t rounded(std::uint32_t bits, int drop) {
  if ((bits & 0x7fffffffU) > 0x7f800000U) return bits | 0x00400000U;  // NaN
  const std::uint32_t odd = bits >> drop & 1U;
  return (bits + (1U << (drop - 1)) - 1U + odd) >> drop << drop;
}

/// How values of an element type are stored: `Value` in memory, `per_word` of them in a word.
template <Element>
struct Traits;
template <>
struct Traits<Element::u8> {
  using Value = std::uint8_t;
  using Sum = std::int32_t;
  LEAGUE_FUNCTION static Value narrow(float value) { return static_cast<Value>(value); }
  LEAGUE_FUNCTION static Sum widen(Value value) { return value; }
};
template <>
struct Traits<Element::s8> {
  using Value = std::int8_t;
  using Sum = std::int32_t;
  LEAGUE_FUNCTION static Value narrow(float value) { return static_cast<Value>(value); }
  LEAGUE_FUNCTION static Sum widen(Value value) { return value; }
};
template <>
struct Traits<Element::bf16> {
  using Value = std::uint16_t;
  using Sum = float;
  LEAGUE_FUNCTION static Value narrow(float value) { return static_cast<Value>(rounded(bits_of(value), 16) >> 16); }
  LEAGUE_FUNCTION static Sum widen(Value value) { return float_of(static_cast<std::uint32_t>(value) << 16); }
};
template <>
struct Traits<Element::f16> {
  using Value = std::uint16_t;
  using Sum = float;
  LEAGUE_FUNCTION static Value narrow(float value) {
#if defined(__CUDA_ARCH__)
    Value half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
#endif
    const std::uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000U;
    const float size = float_of(bits & 0x7fffffffU);
    if (!(size == size)) return static_cast<Value>(sign | 0x7e00U);
    if (size < 0x1p-14F)  // subnormal: the sum has its last bit at 2^-24, and rounds to it
      return static_cast<Value>(sign | (bits_of(size + 0.5F) - bits_of(0.5F)));
    const std::uint32_t near = rounded(bits & 0x7fffffffU, 13);
    return static_cast<Value>(sign | (near >= 0x47800000U ? 0x7c00U : (near - 0x38000000U) >> 13));
  }
  LEAGUE_FUNCTION static Sum widen(Value value) {
#if defined(__CUDA_ARCH__)
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value));
    return wide;
#endif
    const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x8000U) << 16, size = value & 0x7fffU;
    if (size >= 0x7c00U) return float_of(sign | 0x7f800000U | size << 13);
    if (size < 0x0400U) return float_of(sign | bits_of(static_cast<float>(size) * 0x1p-24F));
    return float_of(sign | ((size << 13) + 0x38000000U));
  }
};
/// A float, of whose significand the unit reads 10 bits.
template <>
struct Traits<Element::tf32> {
  using Value = float;
  using Sum = float;
  LEAGUE_FUNCTION static Value narrow(float value) { return float_of(rounded(bits_of(value), 13)); }
  LEAGUE_FUNCTION static Sum widen(Value value) { return float_of(bits_of(value) & 0xffffe000U); }
};
template <>
struct Traits<Element::f32> {
  using Value = float;
  using Sum = float;
  LEAGUE_FUNCTION static Value narrow(float value) { return value; }
  LEAGUE_FUNCTION static Sum widen(Value value) { return value; }
};
template <>
struct Traits<Element::f64> {
  using Value = double;
  using Sum = double;
  LEAGUE_FUNCTION static Value narrow(double value) { return value; }
  LEAGUE_FUNCTION static Sum widen(Value value) { return value; }
};

/// What all units of an element type have in common.
template <Element element_>
struct UnitOf {
  static constexpr Element element = element_;
  using Value = typename Traits<element>::Value;
  using Sum = typename Traits<element>::Sum;
  using Word = std::conditional_t<element == Element::f64, std::uint64_t, std::uint32_t>;
  static constexpr int per_word = static_cast<int>(sizeof(Word) / sizeof(Value));
  static constexpr int depth = words * per_word;  ///< elements of a row of a piece
  static constexpr int parts = 1;
};

/// One lane has the whole tile. On every machine; what all others are held against.
template <Element element_>
struct Scalar : UnitOf<element_> {
  using Unit = UnitOf<element_>;
  using typename Unit::Sum, typename Unit::Value, typename Unit::Word;
  static constexpr int lanes = 1, sums = side * side, run = side, share = piece_words, lane_rows = side;
  static constexpr int sum_rows = side;
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int offset(int row, int word) {
    return word * side + row;
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr Place word_of(int /*lane*/, int i) {
    return {i % side, i / side};
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int lane_row(int i) {
    return i % side;
  }
  LEAGUE_FUNCTION static constexpr int row(int /*lane*/, int i) { return i / side; }
  LEAGUE_FUNCTION static constexpr int column(int /*lane*/, int i) { return i % side; }
  LEAGUE_FUNCTION static constexpr int sum_at(int row, int n) { return row * side + n; }

  struct fragment_a {
    const Word* piece;
  };
  using fragment_b = fragment_a;
  struct fragment_c {
    Sum sum[sums] = {};
  };
  LEAGUE_FUNCTION static void load(fragment_a& fragment, const Word* piece, int /*lane*/) { fragment.piece = piece; }
  LEAGUE_FUNCTION static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    for (int word = 0; word < words; ++word)
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) {
          Value x[Unit::per_word], y[Unit::per_word];
          __builtin_memcpy(x, a.piece + offset(i, word), sizeof(Word));
          __builtin_memcpy(y, b.piece + offset(j, word), sizeof(Word));
          for (int e = 0; e < Unit::per_word; ++e)
            c.sum[i * side + j] += Traits<element_>::widen(x[e]) * Traits<element_>::widen(y[e]);
        }
  }
  LEAGUE_FUNCTION static void values(const fragment_c& c, Sum (&out)[sums]) {
    for (int i = 0; i < sums; ++i) out[i] = c.sum[i];
  }
};

/// Pieces of four matrices [8 rows x 16 bytes], as NVIDIA's instructions that read shared memory want them: rows 0 to
/// 7, then 8 to 15, of each first words 0 to 3. Of 32 lanes, each packs 16 bytes of a row.
struct CoreMatrices {
  static constexpr int lane_rows = 1, core_rows = side / 2, core_words = words / 2,
                       matrix_words = core_rows * core_words;
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int offset(int row, int word) {
    return (row / core_rows * 2 + word / core_words) * matrix_words + row % core_rows * core_words + word % core_words;
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr Place word_of(int lane, int i) {
    return {lane / side * core_rows + lane % core_rows, lane / core_rows % 2 * core_words + i};
  }
  template <Operand = Operand::a>
  LEAGUE_FUNCTION static constexpr int lane_row(int /*i*/) {
    return 0;
  }
};

/// A unit for rows whose elements are sums of two of the unit's: of every two steps, the even one has the high parts of
/// some columns, the odd one their low parts. A tile (unit_tile.hpp) adds low by high, high by low and high by high.
template <class Unit>
struct Split : Unit {
  static constexpr int parts = 2;
};

/// Rows as pieces lie: panels of `height` rows (a multiple of 16), in each of them the pieces of one step of the depth
/// side by side. What a team reads of an operand in a step is then one contiguous part.
template <class Unit, Operand operand = Operand::a>
struct Pieces {
  std::int64_t rows = 0;  ///< with the padding: whole panels
  int steps = 0, height = side;

  Pieces() = default;
  Pieces(std::int64_t n, std::int64_t features, int height_)
      : rows((n + height_ - 1) / height_ * height_),
        steps(static_cast<int>((features + Unit::depth - 1) / Unit::depth) * Unit::parts),
        height(height_) {}
  [[nodiscard]] std::int64_t size() const { return rows * steps * words; }  ///< words
  /// Where the pieces of a step lie, of the panel that begins with `row`.
  LEAGUE_FUNCTION std::int64_t step(std::int64_t row, int number) const {
    return (row / height * steps + number) * height * words;
  }
  /// Where word `word` of a row lies, counted over all steps.
  LEAGUE_FUNCTION std::int64_t at(std::int64_t row, int word) const {
    return step(row, word / words) + row % height / side * piece_words +
           Unit::template offset<operand>(static_cast<int>(row % side), word % words);
  }
};

}  // namespace league::blocks::mma
