// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <vector>

#include "algorithms/oracle/judge.hpp"
#include "algorithms/softmax_regression/common/step.hpp"
#include "algorithms/softmax_regression/softmax_regression.hpp"

namespace league::softmax_regression {

/// Precision of the kernels.
inline constexpr double eps = epsilon_of<float>;

/// Bound of the sum of n roundings to nearest, in units: n, or ten standard deviations (probability 1 - 2n exp(-50)).
/// Source: Higham, Mary: A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41 (2019).
inline double roundings(double n) { return std::min(n, 10 * std::sqrt(n)); }

/// The mean loss of some rows at some theta, and its derivatives, in double.
struct Evaluation {
  double loss = 0;
  std::vector<double> gradient;   ///< [features + 1 x classes]
  std::vector<double> curvature;  ///< Hessian times direction, same layout; empty without a direction
  /// Means over the rows: |x| |e|, where e bounds the error of the residuals (rounding of the logits and their own);
  /// |x| |r|; the error of the loss.
  double residual_error = 0, residual = 0, loss_error = 0;
};
/// `direction` may be empty. Collective: each process evaluates its own rows.
Evaluation evaluate(const SoftmaxRegression& problem, Rows rows, const std::vector<double>& theta,
                    const std::vector<double>& direction, Reduce& reduce);

/// Order of additions of the gradient: our kernels' or a library's product.
enum Sum { own, product };

/// The descent in double, and error bounds of a correct result.
struct Path {
  std::vector<double> theta, losses;
  std::array<std::vector<double>, 2> loss_bounds;  ///< by Sum
  std::array<double, 2> theta_bound{};             ///< of the norm of the difference
  double growth = 1;                               ///< maximum growth of an error of the first step
};

class Oracle {
 public:
  explicit Oracle(const SoftmaxRegression& problem) : problem_(problem) {}
  const Path& path(Reduce& reduce);

 private:
  const SoftmaxRegression& problem_;
  std::once_flag once_;
  Path path_;
};

/// Predicted classes of test rows: the largest logit, ties to the lowest class.
std::vector<std::int32_t> predict(const SoftmaxRegression& problem, std::span<const double> theta);

Verdict judge(const SoftmaxRegression& problem, Oracle& oracle, const Outputs& outputs, Reduce& reduce);

}  // namespace league::softmax_regression
