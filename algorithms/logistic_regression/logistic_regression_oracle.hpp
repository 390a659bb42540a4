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

/// Means over all rows at one theta, from the formula, in double. The intercept is component 0.
struct Evaluation {
  double loss = 0;   ///< with the penalty
  Values gradient;   ///< of it
  Values rounding;   ///< mean |x| (what is rounded in an excess p - y), in roundings
  Values magnitude;  ///< mean |x (p - y)|
  double loss_rounding = 0;
  double largest_sum = 0;  ///< the largest |theta_0| + sum |theta_d x_d| of a row
  Values hessian;          ///< [n x n] where it is asked for
};
/// All processes call it, and `reach`, each for the rows that it has.
Evaluation evaluate(const LogisticRegression& problem, const Values& theta, Reduce& reduce);

/// What a step does to the rows: the largest change of a logit, and the largest growth of a weight p (1 - p).
struct Reach {
  double logit, growth;
};
Reach reach(const LogisticRegression& problem, const Values& theta, const Values& step, Reduce& reduce);

/// How far a right result may be from the oracle's.
struct Errors {
  Values theta;      ///< after the step, each component
  Values converged;  ///< newton: the same, of a solve that this step has ended by the tolerance
  double loss = 0, norm = 0;
};

/// Who has added the sums, and so in which order.
enum Form : std::size_t { ours, of_library };

/// One step of the descent in double: the loss and the gradient's largest component at the theta before it, and what it
/// makes of theta; errors by the order in which sums are added: ours, a library's.
struct Step {
  double loss = 0, norm = 0;
  Values theta;
  std::array<Errors, 2> errors;
};

/// The same descent in double, on all rows, taken as far as it is asked for.
class Oracle {
 public:
  explicit Oracle(const LogisticRegression& problem) : problem_(problem) {}
  /// Until the gradient is below the tolerance, as far as a check had to find out; else all.
  [[nodiscard]] std::int64_t steps() const { return known_steps_ > 0 ? known_steps_.load() : problem_.steps; }
  Verdict judge(const Outputs& outputs, Reduce& reduce);

 private:
  /// Step number `step`, from 0.
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
  /// Fails a result that ends wrong; because of the problem where the oracle diverges as well.
  void fail(Verdict& verdict, const std::string& what, std::int64_t taken, Reduce& reduce);
  /// What is wrong with the number of steps; empty if nothing is.
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
  std::array<double, 2> distance_{};  ///< of a right theta: in the Euclidean norm; for newton in the Hessian's
  Values before_, direction_;         ///< newton: the last accepted theta, and the step from it
  double accepted_ = 0;               ///< its loss
  int halvings_ = 0;
};

}  // namespace league::logistic
