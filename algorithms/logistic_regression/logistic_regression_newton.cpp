// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <optional>

#include "algorithms/logistic_regression/oracle.hpp"

// The oracle's Newton steps, and their error bounds. In the norm of the Hessian H, with s the step and r = max |x . s|:
// a weight p (1 - p) changes by at most its own size times the change of the logit, so the derivative of theta + s is
// at most r. Gradient errors d add sqrt(d |H^-1| d), errors of H add its relative error times |s|. From one theta to
// the next the norm grows with the weights. For a solve ended by the tolerance the bound does not depend on earlier
// steps: its last step started where |gradient| < tolerance, and left r |s| of it.
namespace league::logistic {
namespace {

/// The inverse of a symmetric positive definite matrix; nullopt if it is not definite.
std::optional<Values> inverse(const Values& matrix, std::size_t n) {
  Values a = matrix, inverted(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) inverted[i * n + i] = 1;
  for (std::size_t k = 0; k < n; ++k) {  // Gauss-Jordan; no pivoting: the matrix is definite
    const double pivot = a[k * n + k];
    if (!(pivot > 16 * static_cast<double>(n) * unit * matrix[k * n + k])) return {};
    for (std::size_t j = 0; j < n; ++j) a[k * n + j] /= pivot, inverted[k * n + j] /= pivot;
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = a[i * n + k];
      if (i == k || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j)
        a[i * n + j] -= factor * a[k * n + j], inverted[i * n + j] -= factor * inverted[k * n + j];
    }
  }
  return inverted;
}

/// sum |matrix_ij| v_i v_j, for v >= 0.
double form_of_magnitudes(const Values& matrix, const Values& v) {
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i)
    for (std::size_t j = 0; j < v.size(); ++j) sum += std::abs(matrix[i * v.size() + j]) * v[i] * v[j];
  return sum;
}

}  // namespace

/// The step from a theta, and its error quantities.
struct Oracle::Outlook {
  Values inverse;  ///< of the Hessian
  Values step;
  Values spread;            ///< sqrt((H^-1)_jj): bound of a component by the norm
  double conditioning = 0;  ///< sum sqrt(H_jj (H^-1)_jj)
  double length = 0;        ///< of the step
  double widest = 0;        ///< sqrt(largest H_jj)
};

bool Oracle::look_ahead(const Evaluation& here, Outlook& outlook) const {
  const std::size_t n = theta_.size();
  auto inverted = inverse(here.hessian, n);
  if (!inverted) return false;
  outlook = {.inverse = std::move(*inverted), .step = Values(n, 0.0), .spread = Values(n)};
  double squared_length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) outlook.step[i] -= outlook.inverse[i * n + j] * here.gradient[j];
    outlook.spread[i] = std::sqrt(outlook.inverse[i * n + i]);
    outlook.conditioning += std::sqrt(here.hessian[i * n + i]) * outlook.spread[i];
    squared_length -= outlook.step[i] * here.gradient[i];
    outlook.widest = std::max(outlook.widest, std::sqrt(here.hessian[i * n + i]));
  }
  outlook.length = std::sqrt(std::max(0.0, squared_length));
  return true;
}

void Oracle::newton(Reduce& reduce) {
  const Evaluation here = evaluate(problem_, theta_, reduce);
  Step step{.loss = here.loss, .norm = largest(here.gradient)};
  Errors& errors = step.errors[ours];
  const double& distance = distance_[ours];
  if (Outlook outlook; look_ahead(here, outlook)) {
    errors.loss = loss_error(here, ours) + outlook.length * distance + distance * distance;
    errors.norm = largest(gradient_errors(here, ours)) + outlook.widest * distance;
    const bool grown = !steps_.empty() && !(here.loss <= accepted_ * (1 + newton_slack));
    if (grown && halvings_ < newton_halvings)
      take_back(outlook, errors);
    else
      take(here, outlook, errors, reduce);
  } else {  // singular: no result is accepted
    theta_.assign(theta_.size(), std::nan(""));
    errors.theta = errors.converged = Values(theta_.size(), 0.0);
  }
  step.theta = theta_;
  steps_.push_back(std::move(step));
}

void Oracle::take_back(const Outlook& outlook, Errors& errors) {
  ++halvings_;
  for (std::size_t j = 0; j < theta_.size(); ++j) {
    theta_[j] = before_[j] + std::ldexp(direction_[j], -halvings_);
    errors.theta.push_back(outlook.spread[j] * distance_[ours] + 8 * unit * std::abs(theta_[j]));
  }
  errors.converged = errors.theta;
}

void Oracle::take(const Evaluation& here, const Outlook& outlook, Errors& errors, Reduce& reduce) {
  const double n = static_cast<double>(theta_.size()), rows = static_cast<double>(problem_.extent());
  const double weights = epsilon() * ((n + 2) * here.largest_sum + 8);
  const double sums =
      (terms(ours) * epsilon() + 2 * rows * unit + 8 * n * n * unit) * outlook.conditioning * outlook.conditioning;
  const double local =
      std::sqrt(form_of_magnitudes(outlook.inverse, gradient_errors(here, ours))) + (weights + sums) * outlook.length;
  const double began = std::sqrt(form_of_magnitudes(outlook.inverse, Values(theta_.size(), problem_.tolerance)));
  double farthest = 0;  // largest change of a logit by a step of length 1
  for (std::size_t j = 0; j < theta_.size(); ++j) farthest += largest_[j] * outlook.spread[j];
  const StepChange far = step_change(problem_, theta_, outlook.step, reduce);
  double& distance = distance_[ours];
  distance = 2 * (far.logit * distance + local);  // twice: covers second-order terms
  const double converged = 2 * (local + (weights + sums + farthest * began) * began + far.logit * outlook.length);
  before_ = theta_;
  for (std::size_t j = 0; j < theta_.size(); ++j) {
    theta_[j] += outlook.step[j];
    const double rounding = 8 * unit * std::abs(theta_[j]);
    errors.theta.push_back(outlook.spread[j] * distance + rounding);
    errors.converged.push_back(outlook.spread[j] * std::min(distance, converged) + rounding);
  }
  distance *= std::sqrt(far.growth);
  accepted_ = here.loss, direction_ = outlook.step, halvings_ = 0;
}

}  // namespace league::logistic
