// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/blocks/pieces.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/knn/common/element.hpp"

/// Conversions of rows for matrix units, for packing (blocks/pieces.hpp).
namespace league::knn {

/// The order in which rows are packed: dealt to the tiles round-robin, so that every tile of `columns` rows is a sample
/// of all rows, even if they are sorted. Columns 1: unchanged order.
template <int columns>
struct Dealt {
  std::int64_t tiles;
  LEAGUE_FUNCTION std::int64_t row(std::int64_t packed) const { return packed % columns * tiles + packed / columns; }
};

/// Pixels as signed bytes, value - 128, which changes no distance. Squared norms are exact.
template <class Unit, class T, class Order>
struct PixelRows {
  using Sum = std::int32_t;
  static constexpr int sums = 1;
  const T* data;
  Order order;
  std::int64_t n;
  int features;
  std::int32_t* norms;  ///< [rows of the pieces]; null: not computed

  using Elements = blocks::Pack<T, Unit::per_word* static_cast<int>(sizeof(T))>;
  LEAGUE_FUNCTION bool whole() const { return features % Unit::per_word == 0; }
  template <bool whole>
  LEAGUE_FUNCTION Elements load(std::int64_t packed, int begin) const {
    const std::int64_t row = order.row(packed);
    return blocks::load_elements<Unit::per_word, whole>(data + row * features, row < n, begin, features, T{128});
  }
  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t /*packed*/, int /*begin*/, const Elements& elements,
                                           Sum* sum) const {
    std::int8_t bytes[Unit::per_word];
    for (int i = 0; i < Unit::per_word; ++i) {
      bytes[i] = static_cast<std::int8_t>(static_cast<int>(elements.values[i]) - 128);
      sum[0] += static_cast<std::int32_t>(bytes[i]) * bytes[i];
    }
    typename Unit::Word bits;
    __builtin_memcpy(&bits, bytes, sizeof bits);
    return bits;
  }
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t packed, const Sum* sum, const Peak& /*peak*/) const {
    if (norms != nullptr) norms[packed] = order.row(packed) < n ? sum[0] : KeyLimits<std::int32_t>::no_row();
  }
};

/// Norm of a row relative to the centre, and norm of its rounding error; both rounded up.
struct Lengths {
  float *size, *error;  ///< [rows of the pieces]
  float* largest;       ///< [2] the maxima of both over all rows
};

/// A power of two that scales numbers up to `widest` to below 512, the middle of the range of f16.
LEAGUE_FUNCTION float scale_of(float widest) {
  const int biased = 262 - static_cast<int>(blocks::mma::bits_of(widest) >> 23);
  return blocks::mma::float_of(static_cast<std::uint32_t>(biased < 254 ? biased : 254) << 23);
}

/// Arbitrary numbers minus `centre`, scaled, and rounded to the unit's type.
template <class Unit, class Order>
struct RealRows {
  using Sum = double;
  static constexpr int sums = 2;
  const float* data;
  Order order;
  std::int64_t n;
  int features;
  const float *centre, *widest;  ///< [features]; largest distance from it of some rows
  float* norms;                  ///< [rows of the pieces]; null: not computed
  Lengths lengths;

  using Elements = blocks::Pack<float, Unit::per_word* static_cast<int>(sizeof(float))>;
  LEAGUE_FUNCTION bool whole() const { return features % Unit::per_word == 0; }
  template <bool whole>
  LEAGUE_FUNCTION Elements load(std::int64_t packed, int begin) const {
    const std::int64_t row = order.row(packed);
    return blocks::load_elements<Unit::per_word, whole>(data + row * features, row < n, begin, features, 0.0F);
  }
  /// Differences are rounded to floats (bounded in `finish`), and these to the unit's type (exact error in `lost`).
  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t packed, int begin, const Elements& elements, Sum* sum) const {
    using Traits = blocks::mma::Traits<Unit::element>;
    typename Unit::Value values[Unit::per_word] = {};
    const float scale = scale_of(*widest);
    float squares = 0, lost_squares = 0;
    if (order.row(packed) < n)
      for (int i = 0; i < Unit::per_word; ++i) {
        if (begin + i >= features) break;
        const float scaled = (elements.values[i] - centre[begin + i]) * scale;
        values[i] = Traits::narrow(scaled);
        const float lost = scaled - Traits::widen(values[i]);
        squares += scaled * scaled;
        lost_squares += lost * lost;
      }
    sum[0] += static_cast<double>(squares);
    sum[1] += static_cast<double>(lost_squares);
    typename Unit::Word bits;
    __builtin_memcpy(&bits, values, sizeof bits);
    return bits;
  }
  /// `peak(to, value)`: atomic *to = max(*to, value), of non-negative floats as integers.
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t packed, const Sum* sum, const Peak& peak) const {
    if (norms != nullptr)
      norms[packed] = order.row(packed) < n ? static_cast<float>(sum[0]) : KeyLimits<float>::no_row();
    const float size = length(sum[0]);
    const float lengths_of[2] = {size, length(sum[1]) + 0x1p-22F * size + 0x1p-66F};  // allows for underflow
    lengths.size[packed] = lengths_of[0];
    lengths.error[packed] = lengths_of[1];
    for (int i = 0; i < 2; ++i) peak(reinterpret_cast<std::int32_t*>(lengths.largest) + i, ordered(lengths_of[i]));
  }
  /// The square root, rounded up.
  LEAGUE_FUNCTION static float length(double squared) {
    using std::sqrt;
    return static_cast<float>(sqrt(squared)) * (1 + 0x1p-20F);
  }
};

/// Twice the error bound of a key |y|^2 - 2 x.y: by this much the computed key of a row may exceed that of a row whose
/// exact key is not smaller. Cauchy-Schwarz with the actual rounding errors of the elements; the unit may truncate sums
/// instead of rounding. Infinite where floats might overflow.
LEAGUE_FUNCTION float slack_of(float size, float error, const float* largest, int depth) {
  const double x = size, dx = error, y = largest[0], dy = largest[1];
  if (!(x < 1e18 && y < 1e18)) return KeyLimits<float>::unlimited();
  const double roundings = 0x1p-23, products = (x + dx) * (y + dy);
  const double of_products = x * dy + dx * (y + dy) + (depth + 16) * roundings * products;
  const double of_key = 2 * of_products + roundings * (6 * y * y + 2 * products) + depth * 0x1p-120;
  return of_key < 1e37 ? static_cast<float>(2 * of_key * (1 + 0x1p-20)) : KeyLimits<float>::unlimited();
}

/// Subtracted from all rows before they are rounded: the mean of some training rows, so that a common offset costs no
/// precision. Distances do not change. `peak` as above, of the distance of those rows from it.
template <class Peak>
LEAGUE_FUNCTION float centre_of(const float* data, std::int64_t n, int features, int feature, float* widest,
                                const Peak& peak) {
  constexpr int together = 16;  // loads in flight
  const int some = n < 64 ? static_cast<int>(n) : 64;
  const std::int64_t stride = n / some * features;
  const auto value = [=](int i) { return static_cast<double>(data[i * stride + feature]); };
  const auto centre = static_cast<float>(blocks::sum_in_order<together>(some, value) / some);
  double largest = 0;
  for (int first = 0; first < some; first += together)
    blocks::unrolled<together>([&](int i) {
      const double off = value(first + i < some ? first + i : first) - static_cast<double>(centre);
      largest = off > largest ? off : -off > largest ? -off : largest;
    });
  peak(reinterpret_cast<std::int32_t*>(widest), ordered(static_cast<float>(largest)));
  return centre;
}

}  // namespace league::knn
