// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/plain_element.hpp"
#include "backends/portable.hpp"

namespace league::knn {

/// Packs a pixel of type T as value - 128, which changes no distance: sums of products of up to 1024 features then stay
/// below 2^24 and are exact in a float, in any order. Bytes stay bytes.
template <class T>
struct Pixel {
  using Packed = float;
  LEAGUE_FUNCTION static float pack(T value) { return static_cast<float>(value) - 128; }
  LEAGUE_FUNCTION static float widen(float value) { return value; }
  LEAGUE_FUNCTION static float padding() { return 0; }
};
template <>
struct Pixel<std::uint8_t> {
  using Packed = std::int8_t;
  LEAGUE_FUNCTION static std::int8_t pack(std::uint8_t value) { return static_cast<std::int8_t>(value - 128); }
  LEAGUE_FUNCTION static float widen(std::int8_t value) { return value; }
  LEAGUE_FUNCTION static std::int8_t padding() { return 0; }
};

/// Type of a squared distance; exact for pixels.
template <class Element>
using Distance = std::conditional_t<std::is_same_v<Element, blocks::PlainElement<float>>, float, std::int32_t>;

/// Number of squared differences of pixels that a float adds exactly: 256 * 255^2 < 2^24.
inline constexpr int exact_terms = 256;

/// An order-preserving map of floats to integers, and its inverse: integer atomic min and max exist everywhere.
LEAGUE_FUNCTION std::int32_t ordered(float value) {
  std::int32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
LEAGUE_FUNCTION float from_ordered(std::int32_t bits) {
  if (bits < 0) bits ^= 0x7fffffff;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// Sentinels for keys |y|^2 - 2 x.y. `unlimited`: above all keys, the initial threshold of a query. `nothing`: below
/// all keys, the threshold of a padding query. `no_row`: squared norm of a padding row, whose key is below no
/// threshold. Keys of up to 1,024 pixels are between -3 and 3 times 2^24.
template <class Key>
struct KeyLimits;
template <>
struct KeyLimits<std::int32_t> {
  LEAGUE_FUNCTION static constexpr std::int32_t no_row() { return 1 << 30; }
  LEAGUE_FUNCTION static constexpr std::int32_t unlimited() { return no_row() - 1; }
  LEAGUE_FUNCTION static constexpr std::int32_t nothing() { return -no_row(); }
  LEAGUE_FUNCTION static std::int32_t to_ordered(std::int32_t key) { return key; }
  LEAGUE_FUNCTION static std::int32_t from_ordered(std::int32_t bits) { return bits; }
};
template <>
struct KeyLimits<float> {
  LEAGUE_FUNCTION static float no_row() { return __builtin_nanf(""); }
  LEAGUE_FUNCTION static float unlimited() { return __builtin_inff(); }
  LEAGUE_FUNCTION static float nothing() { return -unlimited(); }
  LEAGUE_FUNCTION static std::int32_t to_ordered(float key) { return ordered(key); }
  LEAGUE_FUNCTION static float from_ordered(std::int32_t bits) { return knn::from_ordered(bits); }
};

/// A squared distance and its index as one integer in the order of the selection (distances are not negative).
LEAGUE_FUNCTION unsigned long long selection_key(std::int32_t squared, std::int64_t index) {
  return static_cast<unsigned long long>(squared) << 32 | static_cast<unsigned long long>(index);
}
LEAGUE_FUNCTION unsigned long long selection_key(float squared, std::int64_t index) {
  return selection_key(ordered(squared), index);
}

/// Reads squared distances from a matrix, for the selection.
template <class D>
struct Stored {
  const D* matrix;
  std::int64_t columns;
  LEAGUE_FUNCTION D operator()(std::int64_t query, std::int64_t j) const { return matrix[query * columns + j]; }
};

/// Computes squared distances from products and norms, |x|^2 + |y|^2 - 2 x.y, clamped at 0.
template <class D>
struct Expanded {
  const float *products, *test_norms, *train_norms;
  std::int64_t columns;
  LEAGUE_FUNCTION D operator()(std::int64_t query, std::int64_t j) const {
    const double squared = static_cast<double>(test_norms[query]) + static_cast<double>(train_norms[j]) -
                           2.0 * static_cast<double>(products[query * columns + j]);
    return static_cast<D>(squared > 0 ? squared : 0);
  }
};

}  // namespace league::knn
