// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/contract/random.hpp"
#include "backends/array.hpp"
#include "backends/portable.hpp"

/// The work of the tensor methods: a row of the output is the sum of all elements of C [16 x 64] after `steps` times
/// C += A B. 16 rows together are a product [64 x 256]: four values of A, four of B.
namespace league::ceilings {

using blocks::mma::Operand;

inline constexpr int tensor_rows = 16, tensor_columns = 64, tensor_sums = tensor_rows * tensor_columns;
inline constexpr int rows_side_by_side = 16;

/// Depth of A B: 32 bytes of elements.
constexpr int tensor_depth(Dtype dtype) { return 32 / static_cast<int>(size_bytes(dtype)); }

/// Constant operands: all elements of A are `left(row)`, all of B `right(row)`. Values from 1 to 4, so that all sums
/// are small integers, exact in every type and order.
LEAGUE_FUNCTION int left(std::int64_t row) { return 1 + static_cast<int>(row / 4 % 4); }
LEAGUE_FUNCTION int right(std::int64_t row) { return 1 + static_cast<int>((row % 4 + row / rows_side_by_side) % 4); }

/// Random operands: integers from `low` on, `count` of them, at most 2^16.
struct Integers {
  int low, count;
  [[nodiscard]] constexpr std::int64_t largest() const { return low < 0 ? -low : low + count - 1; }
};
/// The largest ranges with exact sums: all values of bytes; a sign and 5 or 6 bits for the others, 15 bits for f64.
template <Dtype dtype, Operand operand>
inline constexpr Integers random_integers = [] {
  if (dtype == Dtype::u8) return Integers{0, 256};
  const int largest = dtype == Dtype::f64 ? 32767 : dtype == Dtype::f32 && operand == Operand::a ? 63 : 31;
  return Integers{-largest, 2 * largest + 1};
}();

/// The largest element of A B. Times the steps, it bounds an element of C and its partial sums in any order. Each
/// element of C is a multiple of the steps; in units of these, `tensor_sums` times it bounds their sum.
template <Dtype dtype>
inline constexpr std::int64_t max_product =
    tensor_depth(dtype) * random_integers<dtype, Operand::a>.largest() * random_integers<dtype, Operand::b>.largest();
static_assert(max_product<Dtype::f32> * Recurrence{}.steps < 1LL << 24 &&
                  max_product<Dtype::f32> * tensor_sums < 1LL << 24,
              "24 bits of an f32");
static_assert(max_product<Dtype::f16> * Recurrence{}.steps < 1LL << 24 &&
                  max_product<Dtype::f16> * tensor_sums < 1LL << 24,
              "24 bits of an f32");
static_assert(max_product<Dtype::f64> * Recurrence{}.steps * tensor_sums < 1LL << 53, "53 bits of an f64");
static_assert(max_product<Dtype::u8> * Recurrence{}.steps < 1LL << 31, "an element of C; their sum wraps around");

/// The element type of the block `mma`.
constexpr blocks::mma::Element element_of(Dtype dtype) {
  using blocks::mma::Element;
  if (dtype == Dtype::f32) return Element::tf32;
  if (dtype == Dtype::f64) return Element::f64;
  if (dtype == Dtype::u8) return Element::u8;
  return dtype == Dtype::f16 ? Element::f16 : Element::bf16;
}
/// A word holds `per_word` elements of a row of A or of a column of B: 4 bytes, in f64 8.
template <Dtype dtype>
using Words = blocks::mma::UnitOf<element_of(dtype)>;
template <Dtype dtype>
inline constexpr int row_words = 32 / static_cast<int>(sizeof(typename Words<dtype>::Word));

/// Contents of A and B.
struct Operands {
  bool random = false;
  std::uint64_t seed = 0;

  /// The elements of word `number` of row `i` of A or of column `i` of B, for row `row` of the output. Of 16 rows
  /// together, four consecutive ones share A, every fourth shares B.
  template <Dtype dtype, Operand operand>
  LEAGUE_FUNCTION void integers(std::int64_t row, int i, int number, int (&out)[Words<dtype>::per_word]) const {
    constexpr bool is_a = operand == Operand::a;
    constexpr Integers range = random_integers<dtype, operand>;
    const std::int64_t shared = is_a ? row / 4 : row / rows_side_by_side * 4 + row % 4;
    const std::int64_t index = (shared * (is_a ? tensor_rows : tensor_columns) + i) * row_words<dtype> + number;
    const int low = random ? range.low : is_a ? left(row) : right(row);
    const std::uint64_t bits = random ? random_bits(seed, is_a ? 0 : 1, static_cast<std::uint64_t>(index)) : 0;
    for (int e = 0; e < Words<dtype>::per_word; ++e) {  // 16 bits each
      const auto share = static_cast<std::uint32_t>(bits >> (16 * e) & 0xffffU);
      out[e] = low + static_cast<int>(share * static_cast<std::uint32_t>(range.count) >> 16);
    }
  }
  /// The same packed into a register.
  template <Dtype dtype, Operand operand>
  LEAGUE_FUNCTION typename Words<dtype>::Word word(std::int64_t row, int i, int number) const {
    using Value = typename Words<dtype>::Value;
    int numbers[Words<dtype>::per_word];
    integers<dtype, operand>(row, i, number, numbers);
    Value values[Words<dtype>::per_word];
    for (int e = 0; e < Words<dtype>::per_word; ++e)
      if constexpr (std::is_same_v<Value, std::uint16_t>)
        values[e] = blocks::mma::Traits<Words<dtype>::element>::narrow(static_cast<float>(numbers[e]));
      else
        values[e] = static_cast<Value>(numbers[e]);
    typename Words<dtype>::Word packed;
    __builtin_memcpy(&packed, values, sizeof packed);
    return packed;
  }
};

/// A row of the output: `steps` times the sum over A B, in exact integers; of u8 modulo 2^32, as an i32.
double product_sum(Dtype dtype, const Operands& operands, std::int64_t row, int steps);

}  // namespace league::ceilings
