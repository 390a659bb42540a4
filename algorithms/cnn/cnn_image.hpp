// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/cnn/cnn_oracle.hpp"

/// Shared by the parts of the oracle: one image, and the sums over all.
namespace league::cnn {

/// Unit roundoff of f32.
inline constexpr double unit = std::numeric_limits<float>::epsilon() / 2;

// Error bounds are stored squared ("v_"), like variances: roundings are modelled as independent, each with eight
// standard deviations, so that propagated errors add in squares.

inline double squared(double x) { return x * x; }

/// Squared error of a floating-point sum of `terms` values, relative to the sum of their squares: partial sums are
/// assumed to be at most twice the root of that sum, in any order (compare Higham, Mary: A new approach to
/// probabilistic rounding error analysis, 2019).
inline double sum_error(double terms) { return squared(16 * unit) * (terms + 1); }

/// The same relative to the squared sum, for values of one sign.
inline double whole_error(double terms) { return squared(8 * unit) * (terms + 1); }

using Rounded = Arithmetic::Rounded;

/// `sum_error` of products whose factors are rounded if the arithmetic rounds those of `kind`: both factors, each with
/// a variance of at most roundoff^2 / 3; and units truncate when they add, which doubles the error of the addition.
inline double product_error(double terms, const Arithmetic& arithmetic, Rounded kind) {
  if (arithmetic.rounded < kind) return sum_error(terms);
  return 4 * sum_error(terms) + 2 * squared(8 * arithmetic.roundoff) / 3;
}

/// `product_error` of a convolution, which a library may transform.
inline double convolution_error(double terms, const Arithmetic& arithmetic, Rounded kind) {
  return arithmetic.transforms * product_error(terms, arithmetic, kind);
}

/// Squared error of a value that was stored twice between the layers, relative to its square.
inline double stored_error(const Arithmetic& arithmetic) { return 2 * squared(8 * arithmetic.stored) / 3; }

/// Rounded to nearest, ties to even. By its bits: the compiler may contract what adds and subtracts again.
inline double rounded_to(double value, double roundoff) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(roundoff) >> 52) - 1023;
  const int drop = 53 + exponent;
  const auto bits = std::bit_cast<std::uint64_t>(value), odd = bits >> drop & 1;
  return std::bit_cast<double>((bits + (std::uint64_t{1} << (drop - 1)) - 1 + odd) >> drop << drop);
}

/// A factor of products of `kind`, rounded if the oracle follows the roundings.
inline double factor(double value, const Arithmetic& arithmetic, Rounded kind) {
  return arithmetic.rounds && arithmetic.rounded >= kind ? rounded_to(value, arithmetic.roundoff) : value;
}
/// A value between the layers, rounded if the oracle follows this too.
inline double stored(double value, const Arithmetic& arithmetic) {
  return arithmetic.stores ? rounded_to(value, arithmetic.stored) : value;
}

/// The output of a layer: a sum of products with a bias. Libraries store the sum, then add the bias, which is rounded
/// like a weight, and store again.
struct Biased {
  double value, bias;
  [[nodiscard]] double stored(const Arithmetic& arithmetic) const {
    return cnn::stored(cnn::stored(value - bias, arithmetic) + cnn::stored(bias, arithmetic), arithmetic);
  }
  /// The squared error of the three roundings, as independent ones.
  [[nodiscard]] double error(const Arithmetic& arithmetic) const {
    return stored_error(arithmetic) / 2 * (squared(value - bias) + squared(value) + squared(bias));
  }
  /// At most.
  [[nodiscard]] double bound(const Arithmetic& arithmetic) const {
    return arithmetic.stored * (std::abs(value - bias) + std::abs(value) + std::abs(bias));
  }
};

/// Relative error of exp and log, a few units.
inline constexpr double function_error = 16 * unit;

/// Values of one convolution of an image.
struct Planes {
  explicit Planes(const Convolution& of)
      : z(size(of.outputs * of.positions())), v_z(z.size()), decision(size(of.values())), a(decision.size()) {}
  static std::size_t size(int values) { return static_cast<std::size_t>(values); }
  std::vector<double> z;  ///< [outputs][positions]: before ReLU and pool
  std::vector<float> v_z;
  std::vector<std::uint8_t> decision;      ///< [outputs][windows]
  std::vector<double> a, v_a = a;          ///< after pool, ReLU and dropout
  std::vector<double> d_a = a, v_d_a = a;  ///< their gradient
  std::vector<double> d_z = a, v_d_z = a;  ///< at the window's maximum
};

/// All intermediate values of one image.
struct Image {
  explicit Image(const Network& of) : network(of), x(Planes::size(of.pixels())), h(Planes::size(of.hidden)) {
    for (int n = 0; n < of.count; ++n) planes.emplace_back(of.convolutions[n]);
  }
  const Network& network;
  std::vector<double> x;
  std::vector<Planes> planes;  ///< of each convolution
  std::vector<double> h, v_h = h, h_factor = h, d_h = h, v_d_h = h;
  double logits[classes], v_logits[classes], loss, e_loss, relative;
  double d_logits[classes], v_d_logits[classes];
};

/// Sums over all images.
struct Sums {
  explicit Sums(const Network& of) : gradient(Planes::size(of.parameters())) {}
  std::vector<double> gradient, errors = gradient;
  double loss = 0, e_loss = 0, relative = 0;
  std::int64_t ties = 0, live = 0;
  std::string wrong{};
  std::int64_t wrong_image = std::numeric_limits<std::int64_t>::max();

  /// Adds the product u v of an image; `error`: of the addition (`sum_error`).
  void add(int parameter, double u, double v_u, double v, double v_v, double error) {
    const auto at = static_cast<std::size_t>(parameter);
    gradient[at] += u * v;
    errors[at] += v_u * squared(v) + squared(u) * (v_v + error * squared(v));
  }
  /// Adds the sums of all parameters of [begin, end).
  void add(const Sums& other, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      gradient[i] += other.gradient[i];
      errors[i] += other.errors[i];
    }
  }
  /// Adds all else.
  void add(const Sums& other) {
    loss += other.loss, e_loss += other.e_loss, ties += other.ties, live += other.live;
    relative = std::max(relative, other.relative);
    if (other.wrong_image < wrong_image) wrong = other.wrong, wrong_image = other.wrong_image;
  }
};

/// Forward pass up to the logits, the loss and its gradient. `given`: a variant's decisions; null: the oracle's.
/// @returns an error of the given ones
std::string take_forward(const double* w, const Batch& batch, std::int64_t position, const Decisions* given,
                         Image& image, std::int64_t& ties);
/// Forward pass without dropout and labels, up to the logits.
void take_forward(const double* w, const std::uint8_t* grey, const Arithmetic& arithmetic, Image& image);
/// Backward pass of an image after `take_forward`; adds its gradient.
void take_backward(const double* w, const Batch& batch, std::int64_t position, Image& image, Sums& sums);

}  // namespace league::cnn
