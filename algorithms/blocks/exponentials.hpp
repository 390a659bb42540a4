// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>

#include "algorithms/blocks/pack.hpp"

namespace league::blocks {

/// The largest errors of `exp` and `log1p`, relative to the exact value, in machine epsilons of the type.
inline constexpr double exp_error = 2, log1p_error = 1.5;

// Ranges are reduced by a constant in two parts: W. J. Cody and W. Waite, Software Manual for the Elementary Functions,
// 1980. Polynomials are minimax in the relative error of the function, fitted with 80 decimal digits by Remez' exchange
// algorithm (J.-M. Muller, Elementary Functions, 3rd ed., 2016, chapter 3). The lowest coefficients were rounded one
// after another, and the others fitted again after each. Errors beside the polynomials are theirs alone, in epsilons.
namespace exponentials {

/// first + x (second + x (...)), Horner's rule.
template <class T>
LEAGUE_FUNCTION T polynomial(T /*x*/, T last) {
  return last;
}
template <class T, class... Rest>
LEAGUE_FUNCTION T polynomial(T x, T first, Rest... rest) {
  return first + x * polynomial(x, rest...);
}

template <class T, class Bits_>
struct Format {
  using Bits = Bits_;
  static constexpr int fraction = std::numeric_limits<T>::digits - 1;  ///< bits
  static constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1), exponent = sign - (Bits{1} << fraction);
  static constexpr Bits one = Bits{bias} << fraction, four = Bits{bias + 2} << fraction;
  /// 2^fraction: from here on to its double, neighbouring values differ by 1.
  static constexpr T integers = static_cast<T>(Bits{1} << fraction);
  static constexpr Bits integer_bits = Bits{bias + fraction} << fraction;
  static constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
};

/// ln 2 in two parts: products of the first with exponents are exact. `limit`: exp is 0 below its negative, and
/// infinite above it. `root_half`: the bits of sqrt(1/2).
template <class T>
struct Constants;

template <>
struct Constants<float> : Format<float, std::uint32_t> {
  static constexpr float ln2 = 0x1.62e4p-1F, ln2_low = 0x1.7f7d1cp-20F, half_log2_e = 0x1.715476p-1F, limit = 104;
  static constexpr Bits limit_bits = 0x42d00000, root_half = 0x3f3504f3;
  /// e^r for |r| <= ln 2; 0.007.
  LEAGUE_FUNCTION static float exp(float r) {
    return polynomial(r, 1.0F, 1.0F, 0x1p-1F, 0x1.55555cp-3F, 0x1.555534p-5F, 0x1.110b62p-7F, 0x1.6c2b52p-10F,
                      0x1.a55e6p-13F, 0x1.9bf2e8p-16F);
  }
  /// (log1p(f) - f) / f^2 for sqrt(1/2) <= 1 + f <= sqrt(2); 0.042 of log1p(f).
  LEAGUE_FUNCTION static float log1p(float f) {
    return polynomial(f, -0x1.fffff8p-2F, 0x1.55555p-2F, -0x1.000444p-2F, 0x1.99a436p-3F, -0x1.541edap-3F,
                      0x1.226530p-3F, -0x1.0f878ep-3F, 0x1.08ce5ap-3F, -0x1.37be6ap-4F);
  }
};

template <>
struct Constants<double> : Format<double, std::uint64_t> {
  static constexpr double ln2 = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  static constexpr double half_log2_e = 0x1.71547652b82fep-1, limit = 746;
  static constexpr Bits limit_bits = 0x4087500000000000, root_half = 0x3fe6a09e667f3bcd;
  /// As above; 0.045.
  LEAGUE_FUNCTION static double exp(double r) {
    return polynomial(r, 1.0, 1.0, 0x1.ffffffffffff3p-2, 0x1.55555555555b6p-3, 0x1.5555555556949p-5,
                      0x1.111111110834cp-7, 0x1.6c16c169c0c1cp-10, 0x1.a01a01b2194d3p-13, 0x1.a01a0580ddd66p-16,
                      0x1.71de2a1a1a5b2p-19, 0x1.27e1caad066dap-22, 0x1.ae711f86ddba3p-26, 0x1.217a559669584p-29,
                      0x1.5e72f30a80846p-33);
  }
  /// As above; 0.037.
  LEAGUE_FUNCTION static double log1p(double f) {
    return polynomial(f, -0x1.0000000000003p-1, 0x1.5555555555521p-2, -0x1.fffffffffded6p-3, 0x1.99999999a0e11p-3,
                      -0x1.55555556e2b05p-3, 0x1.2492492281229p-3, -0x1.fffffef6c59a4p-4, 0x1.c71c71c1ad5fdp-4,
                      -0x1.9999c8f5e905cp-4, 0x1.745d47981a524p-4, -0x1.555077ece2b6dp-4, 0x1.3b0aa03ba7562p-4,
                      -0x1.24dbf9172b663p-4, 0x1.11d9a61ace295p-4, -0x1.fb766cac104adp-5, 0x1.cfa9a003a66b1p-5,
                      -0x1.d1256042d7a30p-5, 0x1.0b56d35d75503p-4, -0x1.ebd18fd023ef2p-5, 0x1.accdde820cd79p-6);
  }
};

template <class T>
using Bits = typename Constants<T>::Bits;

template <class T>
LEAGUE_FUNCTION Bits<T> bits_of(T value) {
  Bits<T> bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}
template <class T>
LEAGUE_FUNCTION T value_of(Bits<T> bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// `condition ? yes : no`. GCC moves the operations for a float that only one of the two needs into a branch, out of
/// which it does not vectorise them, since they might trap. Of bits, both are needed.
template <class T>
LEAGUE_FUNCTION T select(bool condition, T yes, T no) {
  const Bits<T> mask = Bits<T>{0} - static_cast<Bits<T>>(condition);
  return value_of<T>((bits_of(yes) & mask) | (bits_of(no) & ~mask));
}

// e^x = e^r (2^m)^2 with |r| <= ln 2. Two products by 2^m instead of one by 2^(2 m): it overflows to infinity, and a
// subnormal result is rounded once. 2^m is one shift of the sum whose last bits are m and the bias of exponents.
template <class T>
LEAGUE_FUNCTION T exp(T x) {
  using N = Constants<T>;
  constexpr T last_bits = N::integers + N::integers / 2 + N::bias;
  const T size = value_of<T>(bits_of(x) & ~N::sign), most = value_of<T>((bits_of(x) & N::sign) | N::limit_bits);
  const T within = size > N::limit ? most : x;  // NaN stays
  const T shifted = within * N::half_log2_e + last_bits, m = shifted - last_bits;
  const T r = (within - m * (2 * N::ln2)) - m * (2 * N::ln2_low);
  const T power = value_of<T>(bits_of(shifted) << N::fraction);
  return N::exp(r) * power * power;
}

// 1 + x = 2^k (1 + f), where k is that of the rounded 1 + x, and f = x / 2^k + (1 / 2^k - 1) has no error of this
// rounding. 4 / 2^k is normal for all k. Where k = 0, f is x.
template <class T>
LEAGUE_FUNCTION T log1p(T x) {
  using N = Constants<T>;
  const Bits<T> power = (bits_of(1 + x) + (N::one - N::root_half)) & N::exponent;  // 2^k
  const T k = value_of<T>(power >> N::fraction | N::integer_bits) - (N::integers + N::bias);
  const T quarters = value_of<T>(N::four + N::one - power);
  const T f = value_of<T>(bits_of(x) + N::one - power) + (quarters * T(0.25) - 1);
  const T log = k * N::ln2 + (f + (f * f * N::log1p(f) + k * N::ln2_low));
  const T inside = select(x > -1, log, select<T>(x == -1, -N::infinity, N::nan));
  return select(x < N::infinity, inside, x);
}

}  // namespace exponentials

/// e^x within `exp_error`; exp(0) = 1, NaN gives NaN. Results above the largest value are infinite. Subnormal results
/// are not flushed: their error is half the smallest subnormal more. Not for other types than float and double.
LEAGUE_FUNCTION float exp(float x) { return exponentials::exp(x); }
LEAGUE_FUNCTION double exp(double x) { return exponentials::exp(x); }

/// log(1 + x) within `log1p_error`, near 0 too; infinity gives infinity, -1 gives -infinity, less and NaN give NaN,
/// both zeros give 0. Not for other types than float and double.
LEAGUE_FUNCTION float log1p(float x) { return exponentials::log1p(x); }
LEAGUE_FUNCTION double log1p(double x) { return exponentials::log1p(x); }

/// Of each element.
template <class T, int bytes>
LEAGUE_FUNCTION Pack<T, bytes> exp(const Pack<T, bytes>& x) {
  Pack<T, bytes> powers;
  for (int i = 0; i < powers.size; ++i) powers.values[i] = exp(x.values[i]);
  return powers;
}
template <class T, int bytes>
LEAGUE_FUNCTION Pack<T, bytes> log1p(const Pack<T, bytes>& x) {
  Pack<T, bytes> logs;
  for (int i = 0; i < logs.size; ++i) logs.values[i] = log1p(x.values[i]);
  return logs;
}

}  // namespace league::blocks
