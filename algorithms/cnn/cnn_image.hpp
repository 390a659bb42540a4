// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "algorithms/cnn/cnn_oracle.hpp"

/// Between the parts of the oracle: one image, and the sums over all.
namespace league::cnn {

/// Of rounding in f32.
inline constexpr double unit = std::numeric_limits<float>::epsilon() / 2;

// Errors are squares ("v_"), as variances are: roundings are taken as independent, each counted with eight standard
// deviations, so that errors that a sum takes over add up by their squares.

inline double squared(double x) { return x * x; }

/// The squared error of a sum of `terms` values that are rounded as they are added, per sum of their squares: partial
/// sums are taken to be up to twice the root of that sum, in any order (compare Higham, Mary: A new approach to
/// probabilistic rounding error analysis, 2019).
inline double sum_error(double terms) { return squared(16 * unit) * (terms + 1); }

/// The same per squared sum: partial sums are not smaller than what they come to.
inline double whole_error(double terms) { return squared(8 * unit) * (terms + 1); }

/// Relative: of exp and log, a few units.
inline constexpr double function_error = 16 * unit;

/// One image on its way through the network.
struct Image {
  double x[pixels];
  double z1[channels1][side1 * side1], a1[channels1][side1 * side1], v_a1[channels1][side1 * side1];
  float noise[channels1][side1 * side1];  ///< v_a1 and the error of adding products of a1
  double z2[channels2][side2 * side2];
  float v_z2[channels2][side2 * side2];
  std::uint8_t decision[pooled];
  double p[pooled], v_p[pooled];
  double h[hidden], v_h[hidden], h_factor[hidden];
  double logits[classes], v_logits[classes], loss, e_loss, relative;
  double d_logits[classes], v_d_logits[classes];
  double d_h[hidden], v_d_h[hidden];
  double d_z2[pooled], v_d_z2[pooled];  ///< at the place that the window chose
  double d_a1[channels1][side1 * side1], v_d_a1[channels1][side1 * side1];
};

/// Where value `place` of a window lies in its channel.
inline int position_of(int window, int place) {
  return (window / pooled_side * 2 + place / 2) * side2 + window % pooled_side * 2 + place % 2;
}

/// Over all images.
struct Sums {
  std::vector<double> gradient = std::vector<double>(parameters), errors = std::vector<double>(parameters);
  double loss = 0, e_loss = 0, relative = 0;
  std::int64_t ties = 0, live = 0;
  std::string wrong{};
  std::int64_t wrong_image = std::numeric_limits<std::int64_t>::max();

  /// Adds the product u v of an image; `error`: of adding it to the others (`sum_error`).
  void add(int parameter, double u, double v_u, double v, double v_v, double error) {
    const auto at = static_cast<std::size_t>(parameter);
    gradient[at] += u * v;
    errors[at] += v_u * squared(v) + squared(u) * (v_v + error * squared(v));
  }
  Sums& operator+=(const Sums& other) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] += other.gradient[i];
      errors[i] += other.errors[i];
    }
    loss += other.loss, e_loss += other.e_loss, ties += other.ties, live += other.live;
    relative = std::max(relative, other.relative);
    if (other.wrong_image < wrong_image) wrong = other.wrong, wrong_image = other.wrong_image;
    return *this;
  }
};

/// Up to the logits, the loss and its gradient. `given`: a variant's decisions; null: its own.
/// @returns what is wrong with those given
std::string take_forward(const double* w, const Batch& batch, std::int64_t position, const Decisions* given,
                         Image& image, std::int64_t& ties);
/// Without dropout and labels, up to the logits.
void take_forward(const double* w, const std::uint8_t* grey, Image& image);
/// Adds the gradient of an image that was taken forward.
void take_backward(const double* w, const Batch& batch, std::int64_t position, Image& image, Sums& sums);

}  // namespace league::cnn
