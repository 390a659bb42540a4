// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/portable.hpp"

/// What one row adds, in the arithmetic that all models share: no branch, one division, a few ulp by construction.
namespace league::logistic {

/// By type: an integer as wide, 1.5 x 2^(digits - 1), ln 2 in a short and a small part, where exp is as good as zero.
template <class T>
struct Real;
template <>
struct Real<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 23, bias = 127, exp_terms = 7, log_terms = 7;
  static constexpr float shift = 0x1.8p23F, ln2_short = 0x1.63p-1F, ln2_rest = -0x1.bd0106p-13F, least = -87.0F;
};
template <>
struct Real<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 52, bias = 1023, exp_terms = 13, log_terms = 16;
  static constexpr double shift = 0x1.8p52, ln2_short = 0x1.62e42feep-1, ln2_rest = 0x1.a39ef35793c76p-33,
                          least = -708.0;
};

template <int k>
inline constexpr double inverse_factorial = inverse_factorial<k - 1> / k;
template <>
inline constexpr double inverse_factorial<0> = 1;

/// The rest of the Taylor series of exp from term `k` on, over r^k.
template <class T, int k = 0>
LEAGUE_FUNCTION T exp_series(T r) {
  constexpr T coefficient = static_cast<T>(inverse_factorial<k>);
  if constexpr (k == Real<T>::exp_terms)
    return coefficient;
  else
    return coefficient + r * exp_series<T, k + 1>(r);
}

/// exp(x) for x <= 0, within 2 eps: 2^k by its bits, and the series on [-ln 2 / 2, ln 2 / 2]. Below `least`, its value
/// there: 1e-38 or 1e-308 instead of less. NaN stays NaN.
template <class T>
LEAGUE_FUNCTION T exp_of_negative(T x) {
  using R = Real<T>;
  x = x < R::least ? R::least : x;
  const T shifted = x * static_cast<T>(1.4426950408889634) + R::shift;  // its last bits: the nearest k
  const T k = shifted - R::shift;
  const T sum = exp_series((x - k * R::ln2_short) - k * R::ln2_rest);
  typename R::Bits bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + R::bias) << R::digits;
  T scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

/// 1 + s^2 / 3 + s^4 / 5 ..., from term `k` on, over s^(2 k): for s <= 1/3 to where 9^-k leaves the digits.
template <class T, int k = 0>
LEAGUE_FUNCTION T atanh_series(T square) {
  constexpr T coefficient = T{1} / static_cast<T>(2 * k + 1);
  if constexpr (k == Real<T>::log_terms)
    return coefficient;
  else
    return coefficient + square * atanh_series<T, k + 1>(square);
}

template <class T>
struct RowTerms {
  T excess;  ///< p - y
  T loss;    ///< max(z, 0) - y z + log1p(exp(-|z|))
  T weight;  ///< p (1 - p)
};

/// Of a row with logit z and label y. Any finite z gives finite terms.
template <class T>
LEAGUE_FUNCTION RowTerms<T> row_terms(T z, T y) {
  const T t = exp_of_negative(z < 0 ? z : -z);
  const T inverse = 1 / ((1 + t) * (2 + t));  // of both denominators: 1 / (1 + t) and t / (2 + t)
  const T q = (2 + t) * inverse;
  const T p = z >= 0 ? q : t * q;
  const T s = t * (1 + t) * inverse;  // log1p(t) = 2 atanh(t / (2 + t)), within 3 eps
  return {p - y, (z > 0 ? z : 0) - y * z + 2 * s * atanh_series(s * s), t * q * q};
}

}  // namespace league::logistic
