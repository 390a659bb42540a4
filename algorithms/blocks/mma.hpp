// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "backends/portable.hpp"

/// Matrix units inside a team kernel: C += A B^T with 16 x 16 sums, distributed over the lanes of a subgroup. The names
/// are those proposed for Kokkos (kokkos#9332): fragment, load, mma_sync.
///
/// A *piece* is an operand of one product in memory: 16 rows of A (or of B: columns of the product), 8 words deep. Its
/// word order is the unit's (`Unit::offset`), so that a lane loads its share as one contiguous part. A *unit* is a type
/// that holds
///   lanes, sums, share      threads per tile; elements of C and words of a piece per lane
///   Word, Sum               register type of A and B; type of the sums
///   offset<operand>(row, word)   offset of a word of a row in a piece [words] of A or of B
///   row(lane, i), column(lane, i)   position in the tile of element i of a lane
///   run                     this many consecutive elements of a lane are neighbours in a row
///   sum_rows, sum_at(row, n)  rows of the tile in which a lane has elements; index of its n-th element in one of them
///   word_of<operand>(lane, i)    the {row, word} that is word i of a lane's part of a piece
///   lane_rows, lane_row<operand>(i)   rows of which a lane has words; the one of word i
///   fragment_a, fragment_b, fragment_c   for units with one lane, a and b may be pointers to their piece
///   load(fragment, piece, lane), mma_sync(c, a, b), values(c, out)
///   shuffle(value, lane)    the value of another lane of the subgroup; all lanes call
///   any(condition)          whether it holds in any lane of the subgroup; all lanes call
///   sync()                  barrier of the subgroup: writes to scratch before it are visible to its lanes after it
///   parts                   pieces that hold the same columns of a row: 1, of a `Split` unit 2
/// Files: mma.hpp (Scalar, for every machine), mma_cuda.hpp (mma.sync), mma_hip.hpp (MFMA), mma_host.hpp (AVX-512).
namespace league::blocks::mma {

/// Type of the elements of A and B. Words are 4 bytes, for f64 8. tf32: floats of which the unit reads 10 bits of the
/// significand. f32: full floats; as two tf32 where there is no unit for them.
enum class Element { u8, s8, f16, bf16, tf32, f32, f64 };

inline constexpr int side = 16, words = 8;  ///< rows of a piece; words of its rows
inline constexpr int piece_words = side * words;

/// Which operand a piece is. For most units the order of a lane's words differs between A and B: operands must be in
/// consecutive registers.
enum class Operand { a, b };

/// Position of a word in a piece.
struct Place {
  int row, word;
};

// Rounds to nearest even; overflow gives infinity, NaN stays NaN.
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
/// The bits of a float, rounded to `drop` fewer bits of significand.
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
  LEAGUE_FUNCTION static Value narrow(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    Value narrow;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(value));
    return narrow;
#endif
    return static_cast<Value>(rounded(bits_of(value), 16) >> 16);
  }
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
    if (size < 0x1p-14F)  // subnormal: adding 0.5 rounds at 2^-24
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
/// A float, of which the unit reads 10 bits of the significand.
template <>
struct Traits<Element::tf32> {
  using Value = float;
  using Sum = float;
  LEAGUE_FUNCTION static Value narrow(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t bits;  // ties away from 0
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return float_of(bits);
#endif
    return float_of(rounded(bits_of(value), 13));
  }
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

/// Members common to all units of an element type.
template <Element element_>
struct UnitOf {
  static constexpr Element element = element_;
  using Value = typename Traits<element>::Value;
  using Sum = typename Traits<element>::Sum;
  using Word = std::conditional_t<element == Element::f64, std::uint64_t, std::uint32_t>;
  static constexpr int per_word = static_cast<int>(sizeof(Word) / sizeof(Value));
  static constexpr int depth = words * per_word;  ///< elements of a row of a piece
  static constexpr int parts = 1;

  /// A word of floats, each rounded to the element type.
  LEAGUE_FUNCTION static Word word(const float (&values)[per_word]) {
    Word word;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (element == Element::bf16) {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(values[1]), "f"(values[0]));
    } else
#endif
    {
      Value narrow[per_word];
      for (int e = 0; e < per_word; ++e) narrow[e] = Traits<element>::narrow(values[e]);
      __builtin_memcpy(&word, narrow, sizeof word);
    }
    return word;
  }
};

/// Reference: plain code, one lane has the whole tile. The tests compare all other units with it.
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
  template <class T>
  LEAGUE_FUNCTION static T shuffle(T value, int /*lane*/) {
    return value;
  }
  LEAGUE_FUNCTION static bool any(bool condition) { return condition; }
  LEAGUE_FUNCTION static void sync() {}
};

/// Pieces as four core matrices [8 rows x 16 bytes], the layout for ldmatrix and wgmma: rows 0 to 7, then 8 to 15, of
/// each first words 0 to 3. Each of 32 lanes packs 16 bytes of a row.
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

/// A unit for split elements, high + low: even steps have the high parts of some columns, odd steps the low parts. A
/// tile (unit_tile.hpp) adds low x high, high x low and high x high.
template <class Unit>
struct Split : Unit {
  static constexpr int parts = 2;
};

/// Offset in values of row `row`, element `element` of the depth, both modulo a piece's, among pieces of operand B.
template <class Unit>
LEAGUE_FUNCTION int value_of_b(int piece, int row, int element) {
  const int word = Unit::template offset<Operand::b>(row % side, element % Unit::depth / Unit::per_word);
  return (piece * piece_words + word) * Unit::per_word + element % Unit::per_word;
}

/// A matrix in pieces: panels of `height` rows (a multiple of 16); within a panel, the pieces of one step of the depth
/// are adjacent. A team reads one contiguous part of an operand per step.
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
  /// Offset of the pieces of a step, of the panel that begins with `row`.
  LEAGUE_FUNCTION std::int64_t step(std::int64_t row, int number) const {
    return (row / height * steps + number) * height * words;
  }
  /// Offset of word `word` of a row, counted over all steps.
  LEAGUE_FUNCTION std::int64_t at(std::int64_t row, int word) const {
    return step(row, word / words) + row % height / side * piece_words +
           Unit::template offset<operand>(static_cast<int>(row % side), word % words);
  }
};

}  // namespace league::blocks::mma
