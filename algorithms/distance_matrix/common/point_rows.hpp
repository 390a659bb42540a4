// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/pieces.hpp"
#include "algorithms/blocks/split.hpp"

/// Conversions of points for matrix units, for packing (blocks/pieces.hpp).
namespace league::distance_matrix {

/// Points unchanged, and their squared norms.
template <class Unit, class T>
struct PointRows {
  using Sum = double;
  static constexpr int sums = 1;
  const T* points;
  std::int64_t n;
  int dimension;
  T* norms;  ///< [rows of the pieces]

  using Elements = T;
  LEAGUE_FUNCTION static bool whole() { return true; }
  template <bool>
  LEAGUE_FUNCTION T load(std::int64_t row, int begin) const {
    static_assert(Unit::per_word == 1);
    return row < n && begin < dimension ? points[row * dimension + begin] : T{0};
  }
  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t /*row*/, int /*begin*/, T value, Sum* sum) const {
    sum[0] += static_cast<double>(value) * static_cast<double>(value);
    typename Unit::Word bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t row, const Sum* sum, const Peak& /*peak*/) const {
    norms[row] = static_cast<T>(sum[0]);
  }
};

/// Points scaled and split (blocks/split.hpp), and their unscaled squared norms.
template <class Unit>
struct SplitRows {
  using Sum = double;
  static constexpr int sums = 1;
  static_assert(Unit::parts == 2 && Unit::element == blocks::mma::Element::f16);
  const float* points;
  std::int64_t n;
  int dimension;
  float *norms, *inverse_scales;  ///< [rows of the pieces]

  /// The scales of 16 rows. @pre all threads call
  template <class Group, class Peak>
  LEAGUE_FUNCTION void prepare(const Group& group, std::int64_t first, const Peak& peak) const {
    constexpr int side = blocks::mma::side, size = blocks::Pack<float>::size,
                  together = 4;  // floats per load; loads in flight
    for (int row = group.rank; row < side; row += group.size) inverse_scales[first + row] = 0;
    group.barrier();
    const int sharing = group.size > side ? group.size / side : 1;  // threads per row
    for (int row = group.rank / sharing; row < side && first + row < n; row += group.size / sharing) {
      std::int32_t largest = 0;
      const float* point = points + (first + row) * dimension;
      const auto look = [&]<bool whole>() {
        for (int begin = group.rank % sharing * size; begin < dimension; begin += together * sharing * size) {
          blocks::Pack<float> loaded[together];
          blocks::unrolled<together>([&](int i) {
            loaded[i] = blocks::load_elements<size, whole>(point, true, begin + i * sharing * size, dimension, 0.0F);
          });
          blocks::unrolled<together * size>([&](int i) {
            const std::int32_t order = blocks::order_of_size(loaded[i / size].values[i % size]);
            largest = order > largest ? order : largest;
          });
        }
      };
      if (dimension % size == 0)
        look.template operator()<true>();
      else
        look.template operator()<false>();
      peak(reinterpret_cast<std::int32_t*>(inverse_scales) + first + row, largest);
    }
    group.barrier();
    for (int row = group.rank; row < side; row += group.size) {
      float& scale = inverse_scales[first + row];
      scale = blocks::inverse_scale(blocks::order_of_size(scale));
    }
    group.barrier();
  }
  using Elements = blocks::Pack<float, Unit::per_word* static_cast<int>(sizeof(float))>;
  LEAGUE_FUNCTION bool whole() const { return dimension % Unit::per_word == 0; }
  template <bool whole>
  LEAGUE_FUNCTION Elements load(std::int64_t row, int begin) const {
    return blocks::load_elements<Unit::per_word, whole>(points + row * dimension, row < n, source(begin).begin,
                                                        dimension, 0.0F);
  }
  LEAGUE_FUNCTION typename Unit::Word word(std::int64_t row, int begin, const Elements& elements, Sum* sum) const {
    const bool is_low = source(begin).is_low;
    typename Unit::Value values[Unit::per_word] = {};
    const float scale = blocks::inverse_power(inverse_scales[row]);
    for (int i = 0; i < Unit::per_word; ++i) {
      const float value = elements.values[i];
      const blocks::Halves parts = blocks::halves_of(value * scale);
      values[i] = is_low ? parts.low : parts.high;
      if (!is_low) sum[0] += static_cast<double>(value) * static_cast<double>(value);
    }
    typename Unit::Word bits;
    __builtin_memcpy(&bits, values, sizeof bits);
    return bits;
  }
  template <class Peak>
  LEAGUE_FUNCTION void finish(std::int64_t row, const Sum* sum, const Peak& /*peak*/) const {
    norms[row] = static_cast<float>(sum[0]);
  }

 private:
  struct Source {
    int begin;    ///< coordinate
    bool is_low;  ///< its low part
  };
  /// If the coordinates fill at most a quarter of a piece, the next quarter of the high piece holds the low parts as
  /// well; low x low is then added too, with the same rounding bound.
  [[nodiscard]] LEAGUE_FUNCTION Source source(int begin) const {
    constexpr int depth = Unit::depth, quarter = depth / 4;
    const bool is_low = begin / depth % 2 != 0;
    begin = begin / (2 * depth) * depth + begin % depth;
    if (!is_low && dimension <= quarter && begin >= quarter) return {begin - quarter, true};
    return {begin, is_low};
  }
};

}  // namespace league::distance_matrix
