// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "algorithms/logistic_regression/logistic_regression.hpp"

namespace league::logistic {

using Values = std::vector<double>;
inline constexpr double unit = 0x1p-53;
double largest(const Values& values);

/// Means over all rows at one theta, by the formula in double. The intercept is component 0.
struct Evaluation {
  double loss = 0;   ///< with the penalty
  Values gradient;   ///< of it
  Values rounding;   ///< mean |x| (rounding of a residual p - y), in units of eps
  Values magnitude;  ///< mean |x (p - y)|
  double loss_rounding = 0;
  double largest_sum = 0;  ///< the largest |theta_0| + sum |theta_d x_d| of a row
  Values hessian;          ///< [n x n], if requested
};
/// Collective, as `step_change` is: each process evaluates its own rows.
Evaluation evaluate(const LogisticRegression& problem, const Values& theta, Reduce& reduce);

/// Effect of a step on the rows: the largest change of a logit, and the largest growth of a weight p (1 - p).
struct StepChange {
  double logit, growth;
};
StepChange step_change(const LogisticRegression& problem, const Values& theta, const Values& step, Reduce& reduce);

/// Error bounds: how far a correct result may be from the oracle's.
struct Errors {
  Values theta;      ///< after the step, each component
  Values converged;  ///< newton: the same, if this step ended the solve by the tolerance
  double loss = 0, norm = 0;
};

/// Order of additions: our kernels' or a library's.
enum Form : std::size_t { ours, of_library };

/// One step of the descent in double: loss and largest gradient component before it, theta after it, and error bounds
/// by `Form`.
struct Step {
  double loss = 0, norm = 0;
  Values theta;
  std::array<Errors, 2> errors;
};

/// The same descent in double on all rows, computed on demand.
class Oracle {
 public:
  explicit Oracle(const LogisticRegression& problem) : problem_(problem) {}
  /// The number of steps until the tolerance, if a check has determined it; else all.
  [[nodiscard]] std::int64_t steps() const { return known_steps_ > 0 ? known_steps_.load() : problem_.steps; }
  Verdict judge(const Outputs& outputs, Reduce& reduce);

 private:
  /// Step `step`, from 0.
  const Step& at(std::int64_t step, Reduce& reduce);
  std::int64_t count_steps(Reduce& reduce);
  void begin(Reduce& reduce);
  void descend(Reduce& reduce);
  void newton(Reduce& reduce);
  struct Outlook;
  /// @returns false where the Hessian is singular
  bool look_ahead(const Evaluation& here, Outlook& outlook) const;
  void take_back(const Outlook& outlook, Errors& errors);
  void take(const Evaluation& here, const Outlook& outlook, Errors& errors, Reduce& reduce);
  /// Fails a result whose end is wrong; blames the problem where the oracle diverges too.
  void fail(Verdict& verdict, const std::string& what, std::int64_t taken, Reduce& reduce);
  /// The error in the number of steps; empty if it is right.
  std::string wrong_count(std::int64_t taken, std::size_t form, Reduce& reduce);
  [[nodiscard]] double epsilon() const;
  [[nodiscard]] double terms(std::size_t form) const;
  [[nodiscard]] Values gradient_errors(const Evaluation& here, std::size_t form) const;
  [[nodiscard]] double loss_error(const Evaluation& here, std::size_t form) const;

  const LogisticRegression& problem_;
  std::mutex mutex_;
  std::vector<Step> steps_;
  std::atomic<std::int64_t> known_steps_ = 0;
  Values theta_;
  double curvature_ = 0;              ///< an upper bound of the Hessian's largest eigenvalue, anywhere
  Values largest_;                    ///< |x| of any row, by feature
  std::array<double, 2> distance_{};  ///< of a correct theta: Euclidean norm; for newton the Hessian's norm
  Values before_, direction_;         ///< newton: the last accepted theta, and the step from it
  double accepted_ = 0;               ///< its loss
  int halvings_ = 0;
};

}  // namespace league::logistic
