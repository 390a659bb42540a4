// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"

/// Floats for units of f16: a row is scaled by a power of two, and each of its elements becomes the sum of two f16.
/// With the largest element of the scaled row in [2^14, 2^15), high + low is an element within 2^-23 of itself and
/// 2^-39 of the largest (low has no bits below 2^-24). Low by low left out, the product of two rows is within (2^-21 +
/// sqrt(d) 2^-38) |x| |y| of theirs.
namespace league::blocks {

/// Larger than that of any smaller float: the bits of its size.
LEAGUE_FUNCTION std::int32_t order_of_size(float value) {
  return static_cast<std::int32_t>(mma::bits_of(value) & 0x7fffffffU);
}

/// What scaled elements are to be multiplied by, from the largest `order_of_size` of a row. Both this and the scale are
/// normal floats: a row below 2^-112, zeros as well, is scaled by 2^126.
LEAGUE_FUNCTION float inverse_scale(std::int32_t largest) {
  const std::int32_t biased = (largest >> 23) - 14;
  return mma::float_of(static_cast<std::uint32_t>(biased > 1 ? biased : 1) << 23);
}
/// 1 / power. @pre a power of two, normal as its inverse
LEAGUE_FUNCTION float inverse_power(float power) { return mma::float_of((254U << 23) - mma::bits_of(power)); }

/// The parts of a scaled element, as bits of f16.
struct Halves {
  std::uint16_t high, low;
};
LEAGUE_FUNCTION Halves halves_of(float scaled) {
  using Half = mma::Traits<mma::Element::f16>;
  const std::uint16_t high = Half::narrow(scaled);
  return {high, Half::narrow(scaled - Half::widen(high))};
}

}  // namespace league::blocks
