// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/oracle/judge.hpp"

namespace league::logistic {
namespace {

/// Roundings of our own sums in the data's type: 8 rows of a GPU thread or 16 of a tile, and the rest of their
/// compensated sum; or 8 rows of a host lane and a tree.
constexpr double terms_in_type = 20;

double length(const Values& values) {
  return std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
}

}  // namespace

double largest(const Values& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// Error bounds. eps: of the data's type; u: of double; n = features + 1; S = |theta_0| + sum |theta_d x_d| of a row. A
// logit has an error of (n + 2) eps S, p a quarter of that (the steepest slope) plus 5 eps of its own. A sum adds 20
// terms sequentially in the data's type and all rows in double; a library, roundings of 8 sqrt(rows) terms (Higham and
// Mary, SIAM J. Sci. Comput. 41, 2019: exceeded with probability 2 m exp(-32)).
double Oracle::epsilon() const { return problem_.dtype == Dtype::f64 ? epsilon_of<double> : epsilon_of<float>; }

double Oracle::terms(std::size_t form) const {
  return terms_in_type + (form == of_library ? 8 * std::sqrt(static_cast<double>(problem_.extent())) : 0.0);
}

Values Oracle::gradient_errors(const Evaluation& here, std::size_t form) const {
  const double rows = static_cast<double>(problem_.extent()), eps = epsilon() + epsilon_of<double>;
  Values errors(here.gradient.size());
  for (std::size_t j = 0; j < errors.size(); ++j)
    errors[j] = eps * (here.rounding[j] + terms(form) * here.magnitude[j]) + 2 * rows * unit * here.magnitude[j] +
                4 * unit * std::abs(here.gradient[j]);
  return errors;
}

double Oracle::loss_error(const Evaluation& here, std::size_t form) const {
  const double rows = static_cast<double>(problem_.extent()), eps = epsilon() + epsilon_of<double>;
  return eps * (here.loss_rounding + terms(form) * here.loss) + (2 * rows + 8) * unit * here.loss;
}

void Oracle::begin(Reduce& reduce) {
  const auto n = static_cast<std::size_t>(problem_.features + 1);
  theta_.assign(n, 0.0);
  largest_.assign(n, 1.0);
  Values squares(n, 0.0);
  const auto measure = [&]<class T>(int feature, T) {
    const std::span<const T> column = problem_.column<T>(feature, problem_.rows);
    double largest = 0, sum = 0;
#pragma omp parallel for schedule(static) reduction(max : largest) reduction(+ : sum)
    for (std::size_t row = 0; row < column.size(); ++row) {
      largest = std::max(largest, std::abs(double{column[row]}));
      sum += double{column[row]} * double{column[row]};
    }
    largest_[static_cast<std::size_t>(feature + 1)] = largest;
    squares[static_cast<std::size_t>(feature + 1)] = sum;
  };
  for (int feature = 0; feature < problem_.features; ++feature)
    problem_.dtype == Dtype::f64 ? measure(feature, double{}) : measure(feature, float{});
  reduce.max(largest_);
  reduce.sum(squares);
  double trace = 1;
  for (std::size_t j = 1; j < n; ++j) trace += squares[j] / static_cast<double>(problem_.extent());
  curvature_ = trace / 4 + problem_.l2;
}

const Step& Oracle::at(std::int64_t step, Reduce& reduce) {
  if (theta_.empty()) begin(reduce);
  while (static_cast<std::int64_t>(steps_.size()) <= step) problem_.newton ? newton(reduce) : descend(reduce);
  return steps_[static_cast<std::size_t>(step)];
}

// E, the distance of a correct theta from the oracle's, grows by lr |gradient error| per step. With eigenvalues of the
// Hessian in [0, L], a step of size lr <= 2 / L does not increase the distance of two thetas; a larger one increases it
// at most by the factor lr L - 1.
void Oracle::descend(Reduce& reduce) {
  const Evaluation here = evaluate(problem_, theta_, reduce);
  const double growth = std::max(1.0, problem_.learning_rate * curvature_ - 1);
  Step step{.loss = here.loss, .norm = largest(here.gradient)};
  for (const std::size_t form : {ours, of_library}) {
    double& distance = distance_[form];
    const Values errors = gradient_errors(here, form);
    step.errors[form].loss =
        loss_error(here, form) + length(here.gradient) * distance + curvature_ / 2 * distance * distance;
    step.errors[form].norm = largest(errors) + curvature_ * distance;
    distance = growth * distance + problem_.learning_rate * length(errors) +
               8 * unit * (length(theta_) + problem_.learning_rate * length(here.gradient));
    step.errors[form].theta.assign(theta_.size(), distance);
  }
  for (std::size_t j = 0; j < theta_.size(); ++j) theta_[j] -= problem_.learning_rate * here.gradient[j];
  step.theta = theta_;
  steps_.push_back(std::move(step));
}

std::int64_t Oracle::count_steps(Reduce& reduce) {
  std::int64_t step = 0;
  while (step + 1 < problem_.steps && !(at(step, reduce).norm < problem_.tolerance)) ++step;
  return step + 1;
}

}  // namespace league::logistic
