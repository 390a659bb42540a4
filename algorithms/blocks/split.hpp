// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/mma.hpp"

/// Floats for f16 units: a row is scaled by a power of two, and each element is split into two f16, high + low. With
/// the largest element of the scaled row in [2^14, 2^15), high + low is an element within 2^-23 of itself and 2^-39 of
/// the largest (low has no bits below 2^-24). With low x low left out, the error of a dot product of d elements is at
/// most (2^-21 + sqrt(d) 2^-38) |x| |y|.
namespace league::blocks {

/// The bits of |value|: ordered as the magnitudes are.
LEAGUE_FUNCTION std::int32_t order_of_size(float value) {
  return static_cast<std::int32_t>(mma::bits_of(value) & 0x7fffffffU);
}

/// The factor that undoes the scaling of a row, from its largest `order_of_size`. It and the scale are normal floats:
/// rows below 2^-112, zeros too, are scaled by 2^126.
LEAGUE_FUNCTION float inverse_scale(std::int32_t largest) {
  const std::int32_t biased = (largest >> 23) - 14;
  return mma::float_of(static_cast<std::uint32_t>(biased > 1 ? biased : 1) << 23);
}
/// 1 / power. @pre a power of two; it and its inverse are normal
LEAGUE_FUNCTION float inverse_power(float power) { return mma::float_of((254U << 23) - mma::bits_of(power)); }

/// High and low part of a scaled element, as f16 bits.
struct Halves {
  std::uint16_t high, low;
};
LEAGUE_FUNCTION Halves halves_of(float scaled) {
  using Half = mma::Traits<mma::Element::f16>;
  const std::uint16_t high = Half::narrow(scaled);
  return {high, Half::narrow(scaled - Half::widen(high))};
}

}  // namespace league::blocks
