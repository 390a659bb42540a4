// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/linear_regression/common/rows.hpp"

/// The moments of the columns [features, 1, target]: which sums of products there are, and where they lie.
namespace league::linear_regression {

/// The features in blocks of `width`. Each block needs its products, its sums and its products with the target; each
/// pair of blocks needs the products of one with the other. Few widths, so that there are few kernels.
struct Gram {
  LEAGUE_FUNCTION explicit constexpr Gram(int features_)
      : features(features_),
        width(features_ == 1            ? 1
              : features_ <= 4          ? 4
              : features_ <= pair_width ? pair_width
              : features_ <= 10         ? 10
                                        : pair_width),
        blocks((features_ + width - 1) / width) {}
  int features, width, blocks;
  /// The only width of which there may be several blocks.
  static constexpr int pair_width = 8;

  /// Values that a block adds: x_i x_j for j >= i, row by row; x_i y; x_i; y; y y.
  LEAGUE_FUNCTION static constexpr int of_block(int width) { return width * (width + 1) / 2 + 2 * width + 2; }
  /// Where the sums of block `a` with block `b` >= a begin: blocks first, then pairs.
  [[nodiscard]] LEAGUE_FUNCTION constexpr int begin(int a, int b) const {
    if (a == b) return a * of_block(width);
    return blocks * of_block(width) + (a * (2 * blocks - a - 1) / 2 + b - a - 1) * width * width;
  }
  [[nodiscard]] LEAGUE_FUNCTION constexpr int sums() const { return begin(blocks - 1, blocks); }

  /// Where the product of columns i and j >= i lies; column `features` is the constant, the next one the target. There
  /// is none of the constant with itself: that is the count of rows.
  [[nodiscard]] LEAGUE_FUNCTION constexpr int at(int i, int j) const {
    const int triangle = width * (width + 1) / 2;
    if (i >= features) return triangle + 2 * width + i - features;  // constant x target, target x target
    const int a = i / width, k = i % width;
    if (j >= features) return begin(a, a) + triangle + (j == features ? width : 0) + k;
    const int b = j / width, l = j % width;
    if (a == b) return begin(a, a) + k * width - k * (k - 1) / 2 + l - k;
    return begin(a, b) + k * width + l;
  }
};

/// Calls `body.operator()<width>()` with the width of the blocks.
template <class Body>
auto with_block_width(int features, const Body& body) {
  const int width = Gram(features).width;
  if (width == 1) return body.template operator()<1>();
  if (width == 4) return body.template operator()<4>();
  if (width == 10) return body.template operator()<10>();
  return body.template operator()<Gram::pair_width>();
}

}  // namespace league::linear_regression
