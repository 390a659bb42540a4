// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/portable.hpp"

/// The terms of one row, in arithmetic shared by all models: branch-free, without a division, error of a few ulp.
namespace league::logistic {

/// Per type: an integer of the same width, 1.5 x 2^(digits - 1), ln 2 as a short and a small part, the clamp of exp's
/// argument; the first guess of a reciprocal and the Newton steps from there.
template <class T>
struct Real;
template <>
struct Real<float> {
  using Bits = std::uint32_t;
  static constexpr int digits = 23, bias = 127, exp_terms = 7, log_terms = 7;
  static constexpr float shift = 0x1.8p23F, ln2_short = 0x1.63p-1F, ln2_rest = -0x1.bd0106p-13F, min_x = -87.0F;
  static constexpr Bits guess = 0x7ef31000;
  static constexpr int newton_steps = 3;
};
template <>
struct Real<double> {
  using Bits = std::uint64_t;
  static constexpr int digits = 52, bias = 1023, exp_terms = 13, log_terms = 16;
  static constexpr double shift = 0x1.8p52, ln2_short = 0x1.62e42feep-1, ln2_rest = 0x1.a39ef35793c76p-33,
                          min_x = -708.0;
  static constexpr Bits guess = 0x7fde620000000000;
  static constexpr int newton_steps = 4;
};

template <int k>
inline constexpr double inverse_factorial = inverse_factorial<k - 1> / k;
template <>
inline constexpr double inverse_factorial<0> = 1;

/// The Taylor series of exp from term `k` on, divided by r^k.
template <class T, int k = 0>
LEAGUE_FUNCTION T exp_series(T r) {
  constexpr T coefficient = static_cast<T>(inverse_factorial<k>);
  if constexpr (k == Real<T>::exp_terms)
    return coefficient;
  else
    return coefficient + r * exp_series<T, k + 1>(r);
}

/// exp(x) for x <= 0, within 2 eps: 2^k by its bits times the series on [-ln 2 / 2, ln 2 / 2]. x is clamped at `min_x`,
/// so that the result is at least 1e-38 or 1e-308. NaN stays NaN.
template <class T>
LEAGUE_FUNCTION T exp_of_negative(T x) {
  using R = Real<T>;
  x = x < R::min_x ? R::min_x : x;
  const T shifted = x * static_cast<T>(1.4426950408889634) + R::shift;  // its low bits: the nearest k
  const T k = shifted - R::shift;
  const T sum = exp_series((x - k * R::ln2_short) - k * R::ln2_rest);
  typename R::Bits bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + R::bias) << R::digits;
  T scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return sum * scale;
}

/// The same by 2^y, for which GPUs have an instruction in f32, within 3 eps: the rounding of y = x log2 e is taken back
/// to first order. (Hosts vectorise the series, but no call of exp2f.)
template <class T>
LEAGUE_FUNCTION T exp_by_power_of_two(T x) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr float log2_e = 0x1.715476p0F, log2_e_rest = 0x1.4ae0c0p-26F, ln_2 = 0x1.62e430p-1F;
    x = x < Real<float>::min_x ? Real<float>::min_x : x;
    const float y = x * log2_e, power = exp2f(y);
    return power + power * (fmaf(x, log2_e_rest, fmaf(x, log2_e, -y)) * ln_2);
  } else {
    return exp_of_negative(x);
  }
}

/// 1 / x for x in [1, 6], within 3/4 eps. The first guess, which mirrors the exponent, is within 5.1 %; a Newton step
/// squares that. nvcc's division branches for results that are not normal, and no work of other rows gets past a
/// branch.
template <class T>
LEAGUE_FUNCTION T reciprocal(T x) {
  typename Real<T>::Bits bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  bits = Real<T>::guess - bits;
  T y;
  __builtin_memcpy(&y, &bits, sizeof y);
  for (int step = 0; step < Real<T>::newton_steps; ++step) y += y * (1 - x * y);
  return y;
}

/// 1 + s^2 / 3 + s^4 / 5 ..., from term `k` to term `last`, divided by s^(2 k). s^(2 last) is below the precision: for
/// s <= 1/3 and `Real::log_terms`, for s <= 1/5 and three quarters of them.
template <class T, int last = Real<T>::log_terms, int k = 0>
LEAGUE_FUNCTION T atanh_series(T square) {
  constexpr T coefficient = T{1} / static_cast<T>(2 * k + 1);
  if constexpr (k == last)
    return coefficient;
  else
    return coefficient + square * atanh_series<T, last, k + 1>(square);
}

template <class T>
struct RowTerms {
  T residual;  ///< p - y
  T loss;      ///< max(z, 0) - y z + log1p(exp(-|z|))
  T weight;    ///< p (1 - p)
};

/// Terms of a row with logit z and label y; finite for any finite z.
template <class T>
LEAGUE_FUNCTION RowTerms<T> row_terms(T z, T y) {
  const T t = exp_of_negative(z < 0 ? z : -z);
  const T inverse = reciprocal((1 + t) * (2 + t));  // one for both 1 / (1 + t) and t / (2 + t)
  const T q = (2 + t) * inverse;
  const T p = z >= 0 ? q : t * q;
  const T s = t * (1 + t) * inverse;  // log1p(t) = 2 atanh(t / (2 + t)), within 3 eps
  return {p - y, (z > 0 ? z : 0) - y * z + 2 * s * atanh_series(s * s), t * q * q};
}

/// log x for finite x >= 1, within 3 eps of the larger of itself and 1: k ln 2 + log m = k ln 2 + 2 atanh((m - 1) /
/// (m + 1)) for m in [3/4, 3/2), m 2^k = x.
template <class T>
LEAGUE_FUNCTION T log_of_product(T x) {
  using R = Real<T>;
  using Bits = typename R::Bits;
  constexpr Bits three_quarters = ((Bits{R::bias} - 1) << R::digits) + (Bits{1} << (R::digits - 1));
  Bits bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const Bits k = (bits - three_quarters) >> R::digits;
  bits -= k << R::digits;
  T m;
  __builtin_memcpy(&m, &bits, sizeof m);
  const T s = (m - 1) * reciprocal(m + 1);
  return static_cast<T>(static_cast<int>(k)) * static_cast<T>(0.6931471805599453) +
         2 * s * atanh_series<T, R::log_terms * 3 / 4>(s * s);
}

/// The terms of a row among several that share a logarithm: their loss is the sum of margins and the logarithm of the
/// product of factors.
template <class T>
struct SharedTerms {
  T residual, weight;  ///< as above
  T margin;            ///< max(z, 0) - y z
  T factor;            ///< 1 + exp(-|z|)
};
/// `t`: exp(-|z|).
template <class T>
LEAGUE_FUNCTION SharedTerms<T> shared_terms(T z, T y, T t) {
  const T factor = 1 + t, q = reciprocal(factor);
  return {(z >= 0 ? q : t * q) - y, t * q * q, (z > 0 ? z : 0) - y * z, factor};
}
template <class T>
LEAGUE_FUNCTION SharedTerms<T> shared_terms(T z, T y) {
  return shared_terms(z, y, exp_by_power_of_two(z < 0 ? z : -z));
}

/// The loss of up to 16 rows, within the bound of the sum of their own: 5 eps of it plus 2 eps per |z|.
template <class T>
struct SharedLoss {
  T margins = 0, product = 1;
  LEAGUE_FUNCTION void add(const SharedTerms<T>& row) {
    margins += row.margin;
    product *= row.factor;
  }
  [[nodiscard]] LEAGUE_FUNCTION T value() const { return margins + log_of_product(product); }
};

}  // namespace league::logistic
