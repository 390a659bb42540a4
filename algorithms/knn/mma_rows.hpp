// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/blocks/pieces.hpp"
#include "algorithms/knn/element.hpp"

/// What packing (blocks/pieces.hpp) makes of rows for matrix units.
namespace league::knn {

/// The order in which rows are packed: dealt out to the tiles one by one, so that every tile of `columns` rows is a
/// sample of all of them, also where they are sorted. Columns 1: as they are.
template <int columns>
struct Dealt {
  std::int64_t tiles;
  LEAGUE_FUNCTION std::int64_t row(std::int64_t packed) const { return packed % columns * tiles + packed / columns; }
};

/// Pixels as signed bytes: 128 less, which changes no distance. Their squared norms are exact.
template <class Unit, class T, class Order>
struct PixelRows {
  using Sum = std::int32_t;
  static constexpr int sums = 1;
  const T* data;
  Order order;
  std::int64_t n;
  int features;
  std::int32_t* norms;  ///< [rows of the pieces]; null: not wanted

  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t packed, int begin, Sum* sum) const {
    const std::int64_t row = order.row(packed);
    std::int8_t bytes[Unit::per_word] = {};
    if (row < n)
      blocks::load_elements<Unit::per_word>(data + row * features, begin, features, [&](int i, T value) {
        bytes[i] = static_cast<std::int8_t>(static_cast<int>(value) - 128);
        sum[0] += static_cast<std::int32_t>(bytes[i]) * bytes[i];
      });
    typename Unit::Word bits;
    __builtin_memcpy(&bits, bytes, sizeof bits);
    return bits;
  }
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t packed, const Sum* sum, const Peak& /*peak*/) const {
    if (norms != nullptr) norms[packed] = order.row(packed) < n ? sum[0] : KeyLimits<std::int32_t>::no_row();
  }
};

/// How far a row is from the centre, and what rounding its elements has taken from it: lengths, rounded up.
struct Lengths {
  float *size, *error;  ///< [rows of the pieces]
  float* most;          ///< [2] the largest of all rows of both
};

/// A power of two that takes numbers as large as `widest` to less than 512: the middle of what f16 can hold.
LEAGUE_FUNCTION float scale_of(float widest) {
  const int biased = 262 - static_cast<int>(blocks::mma::bits_of(widest) >> 23);
  return blocks::mma::float_of(static_cast<std::uint32_t>(biased < 254 ? biased : 254) << 23);
}

/// Numbers of any kind, less those of `centre`, scaled, and rounded to what the unit multiplies.
template <class Unit, class Order>
struct RealRows {
  using Sum = double;
  static constexpr int sums = 2;
  const float* data;
  Order order;
  std::int64_t n;
  int features;
  const float *centre, *widest;  ///< [features]; how far from it some rows are at most
  float* norms;                  ///< [rows of the pieces]; null: not wanted
  Lengths lengths;

  /// Differences are rounded to floats, which `finish` allows for, and these to the unit's, of which `lost` is exact.
  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t packed, int begin, Sum* sum) const {
    const std::int64_t row = order.row(packed);
    using Traits = blocks::mma::Traits<Unit::element>;
    typename Unit::Value values[Unit::per_word] = {};
    const float scale = scale_of(*widest);
    float squares = 0, lost_squares = 0;
    if (row < n)
      blocks::load_elements<Unit::per_word>(data + row * features, begin, features, [&](int i, float value) {
        const float scaled = (value - centre[begin + i]) * scale;
        values[i] = Traits::narrow(scaled);
        const float lost = scaled - Traits::widen(values[i]);
        squares += scaled * scaled;
        lost_squares += lost * lost;
      });
    sum[0] += static_cast<double>(squares);
    sum[1] += static_cast<double>(lost_squares);
    typename Unit::Word bits;
    __builtin_memcpy(&bits, values, sizeof bits);
    return bits;
  }
  /// `peak(to, value)`: *to = max(*to, value), by all threads at once; of floats that are not negative, as integers.
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t packed, const Sum* sum, const Peak& peak) const {
    if (norms != nullptr)
      norms[packed] = order.row(packed) < n ? static_cast<float>(sum[0]) : KeyLimits<float>::no_row();
    const float size = length(sum[0]);
    const float lengths_of[2] = {size, length(sum[1]) + 0x1p-22F * size + 0x1p-66F};  // that much may underflow
    lengths.size[packed] = lengths_of[0];
    lengths.error[packed] = lengths_of[1];
    for (int i = 0; i < 2; ++i) peak(reinterpret_cast<std::int32_t*>(lengths.most) + i, ordered(lengths_of[i]));
  }
  /// The root, not less than it is.
  LEAGUE_FUNCTION static float length(double squared) {
    using std::sqrt;
    return static_cast<float>(sqrt(squared)) * (1 + 0x1p-20F);
  }
};

/// By how much the computed key |y|^2 - 2 x.y of any training row may exceed that of another whose exact key is not
/// smaller: twice the bound of a key's error. By the inequality of Cauchy and Schwarz, with the errors that rounding
/// really made; sums of products may be cut off where they do not round. Infinite where floats might overflow.
LEAGUE_FUNCTION float slack_of(float size, float error, const float* most, int depth) {
  const double x = size, dx = error, y = most[0], dy = most[1];
  if (!(x < 1e18 && y < 1e18)) return KeyLimits<float>::unlimited();
  const double roundings = 0x1p-23, products = (x + dx) * (y + dy);
  const double of_products = x * dy + dx * (y + dy) + (depth + 16) * roundings * products;
  const double of_key = 2 * of_products + roundings * (6 * y * y + 2 * products) + depth * 0x1p-120;
  return of_key < 1e37 ? static_cast<float>(2 * of_key * (1 + 0x1p-20)) : KeyLimits<float>::unlimited();
}

/// What is taken from all rows before they are rounded: the mean of some of the training rows, so that an offset of all
/// data costs no digits. Distances stay as they are. `peak` as above: how far those rows are from it at most.
template <class Peak>
LEAGUE_FUNCTION float centre_of(const float* data, std::int64_t n, int features, int feature, float* widest,
                                const Peak& peak) {
  const std::int64_t some = n < 64 ? n : 64;
  const auto value = [&](std::int64_t i) { return static_cast<double>(data[i * n / some * features + feature]); };
  double sum = 0;
  for (std::int64_t i = 0; i < some; ++i) sum += value(i);
  const auto centre = static_cast<float>(sum / static_cast<double>(some));
  double most = 0;
  for (std::int64_t i = 0; i < some; ++i) {
    const double off = value(i) - static_cast<double>(centre);
    most = off > most ? off : -off > most ? -off : most;
  }
  peak(reinterpret_cast<std::int32_t*>(widest), ordered(static_cast<float>(most)));
  return centre;
}

}  // namespace league::knn
