// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include "algorithms/blocks/exponentials.hpp"

// exp and log1p against the library's of the next larger type.
namespace league::blocks {
namespace {

template <class T>
using Exact = std::conditional_t<std::is_same_v<T, float>, double, long double>;
template <class T>
using Limits = std::numeric_limits<T>;

struct Exponential {
  static constexpr double bound = exp_error;
  template <class T>
  static T of(T x) {
    return exp(x);
  }
  template <class T>
  static Exact<T> exact(T x) {
    return std::exp(Exact<T>{x});
  }
};

struct Logarithm {
  static constexpr double bound = log1p_error;
  template <class T>
  static T of(T x) {
    return log1p(x);
  }
  template <class T>
  static Exact<T> exact(T x) {
    return std::log1p(Exact<T>{x});
  }
};

/// The error at x over what is allowed there: the bound, and half the smallest subnormal for results below the normal
/// ones. At most 1; infinite where NaN or infinity differ.
template <class Function, class T>
double excess(T x) {
  const T found = Function::of(x);
  const Exact<T> exact = Function::exact(x);
  if (std::isnan(exact)) return std::isnan(found) ? 0 : Limits<double>::infinity();
  if (found == static_cast<T>(exact)) return 0;
  const Exact<T> size = std::abs(exact);
  Exact<T> allowed = Exact<T>{Function::bound} * Limits<T>::epsilon() * size;
  if (size < Limits<T>::min()) allowed += Exact<T>{Limits<T>::denorm_min()} / 2;
  return static_cast<double>(std::abs(found - exact) / allowed);
}

template <class Function, class T>
struct Worst {
  T x = 0;
  double error = 0;
  void look_at(T at) {
    if (const double here = excess<Function>(at); here > error) x = at, error = here;
  }
  /// `each` values on either side too.
  void look_around(T at, int each = 2000) {
    look_at(at);
    T up = at, down = at;
    for (int i = 0; i < each; ++i) {
      look_at(up = std::nextafter(up, Limits<T>::infinity()));
      look_at(down = std::nextafter(down, -Limits<T>::infinity()));
    }
  }
  void look_between(T low, T high, int samples) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<T> values(low, high);
    for (int i = 0; i < samples; ++i) look_at(values(random));
  }
  ~Worst() { EXPECT_LE(error, 1) << "at " << x; }
};

template <class T>
class Exponentials : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exponentials, Types);

TYPED_TEST(Exponentials, SpecialValues) {
  using T = TypeParam;
  const T infinity = Limits<T>::infinity(), nan = Limits<T>::quiet_NaN(), largest = Limits<T>::max();
  EXPECT_EQ(exp(T{0}), 1);
  EXPECT_EQ(exp(-T{0}), 1);
  EXPECT_EQ(exp(infinity), infinity);
  EXPECT_EQ(exp(largest), infinity);
  EXPECT_EQ(exp(-infinity), 0);
  EXPECT_EQ(exp(-largest), 0);
  EXPECT_TRUE(std::isnan(exp(nan)));
  EXPECT_TRUE(std::isnan(exp(-nan)));
  EXPECT_EQ(log1p(T{0}), 0);
  EXPECT_EQ(log1p(-T{0}), 0);
  EXPECT_EQ(log1p(T{-1}), -infinity);
  EXPECT_EQ(log1p(infinity), infinity);
  for (const T x : {nan, -nan, std::nextafter(T{-1}, T{-2}), T{-2}, -largest, -infinity})
    EXPECT_TRUE(std::isnan(log1p(x))) << x;
}

TYPED_TEST(Exponentials, AreCloseNearTheBoundariesOfTheReduction) {
  using T = TypeParam;
  Worst<Exponential, T> power;
  for (int n = Limits<T>::min_exponent - Limits<T>::digits - 2; n <= Limits<T>::max_exponent + 1; ++n)
    power.look_around(static_cast<T>(n * 0.693147180559945309L), 100);
  Worst<Logarithm, T> logarithm;
  for (int k = -Limits<T>::digits; k < Limits<T>::max_exponent; ++k)
    for (const long double factor : {1.0L, 1.41421356237309505L})
      logarithm.look_around(static_cast<T>(std::ldexp(factor, k) - 1), 100);
}

TYPED_TEST(Exponentials, AreCloseNearZeroAndAtTheEnds) {
  using T = TypeParam;
  const T least = Limits<T>::denorm_min(), normal = Limits<T>::min(), largest = Limits<T>::max();
  Worst<Exponential, T> power;
  Worst<Logarithm, T> logarithm;
  for (const T x : {T{0}, least, -least, normal, -normal, Limits<T>::epsilon(), -Limits<T>::epsilon(), T{1}, T{-0.5}}) {
    power.look_around(x);
    logarithm.look_around(x);
  }
  for (const T result : {least, normal, largest}) power.look_around(std::log(result));
  logarithm.look_around(T{-1});
  logarithm.look_around(largest, 100);
}

TEST(Exponentials, OfFloatsAreClose) {  // of all 2^32, one in 331
  Worst<Exponential, float> power;
  Worst<Logarithm, float> logarithm;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 331) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    power.look_at(x);
    logarithm.look_at(x);
  }
}

TEST(Exponentials, OfDoublesAreClose) {
  constexpr int samples = 500'000;
  Worst<Exponential, double> power;
  power.look_between(-1, 1, samples);
  power.look_between(-746, 711, samples);
  power.look_between(-746, -707, samples);
  Worst<Logarithm, double> logarithm;
  logarithm.look_between(-1, 2, samples);
  logarithm.look_between(-1e-3, 1e-3, samples);
  logarithm.look_between(0, 1e3, samples);
  std::mt19937_64 random(2);
  for (int i = 0; i < samples; ++i) {  // all exponents
    const auto x = std::bit_cast<double>(random());
    power.look_at(x);
    logarithm.look_at(x);
  }
}

TEST(Exponentials, OfAPackAreThoseOfItsElements) {
  Pack<float, 64> x;
  for (int i = 0; i < x.size; ++i) x.values[i] = 3 * std::sin(static_cast<float>(i));
  const auto powers = exp(x), logarithms = log1p(exp(x));
  for (int i = 0; i < x.size; ++i) {
    EXPECT_FLOAT_EQ(powers.values[i], exp(x.values[i]));
    EXPECT_FLOAT_EQ(logarithms.values[i], log1p(exp(x.values[i])));
  }
}

}  // namespace
}  // namespace league::blocks
