// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>

#include "algorithms/logistic_regression/oracle.hpp"
#include "algorithms/oracle/agree.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league::logistic {
namespace {

/// The number of local rows that theta classifies correctly.
template <class T>
std::int64_t right_rows(const LogisticRegression& problem, std::span<const double> theta) {
  const T* columns = problem.columns.values<const T>().data();
  const std::uint8_t* labels = problem.labels.values<const std::uint8_t>().data();
  const std::int64_t rows = problem.rows.size();
  std::int64_t right = 0;
#pragma omp parallel for schedule(static) reduction(+ : right)
  for (std::int64_t row = 0; row < rows; ++row) {
    double z = theta[0];
    for (int feature = 0; feature < problem.features; ++feature)
      z += theta[static_cast<std::size_t>(feature + 1)] * double{columns[feature * rows + row]};
    if ((z >= 0) == (labels[row] == 1)) ++right;
  }
  return right;
}

Figure accuracy(const LogisticRegression& problem, std::span<const double> theta, Reduce& reduce) {
  const std::int64_t here =
      problem.dtype == Dtype::f64 ? right_rows<double>(problem, theta) : right_rows<float>(problem, theta);
  return {"accuracy", static_cast<double>(reduce.sum_of(here)), static_cast<double>(problem.extent())};
}

/// A message about the first value that is not finite; empty if there is none.
std::string divergence(std::span<const double> theta, std::span<const double> loss) {
  for (std::size_t step = 0; step < loss.size(); ++step)
    if (!std::isfinite(loss[step]))
      return "diverged: the loss is not finite from step " + std::to_string(step) + " on; lower learning_rate";
  if (!std::ranges::all_of(theta, [](double value) { return std::isfinite(value); }))
    return "diverged: theta is not finite after the last step; lower learning_rate, or give an l2";
  return {};
}

}  // namespace

std::string Oracle::wrong_count(std::int64_t taken, std::size_t form, Reduce& reduce) {
  if (taken < 1 || taken > problem_.steps || (problem_.tolerance == 0 && taken < problem_.steps))
    return "steps is " + std::to_string(taken) + " of up to " + std::to_string(problem_.steps);
  for (std::int64_t step = 0; step < taken; ++step) {
    const Step& here = at(step, reduce);
    if (!std::isfinite(here.loss))
      return "diverged: the oracle's loss is not finite from step " + std::to_string(step) + " on; lower learning_rate";
    const double error = here.errors[form].norm;
    const bool last = step + 1 == taken;
    if (last ? taken < problem_.steps && here.norm - error > problem_.tolerance
             : here.norm + error < problem_.tolerance)
      return "steps is " + std::to_string(taken) + ", but the gradient of step " + std::to_string(step) + " is " +
             all_digits(here.norm) + ", tolerance " + all_digits(problem_.tolerance);
  }
  return {};
}

void Oracle::fail(Verdict& verdict, const std::string& what, std::int64_t taken, Reduce& reduce) {
  const Step& last = at(std::clamp<std::int64_t>(taken, 1, problem_.steps) - 1, reduce);
  const bool finite = std::ranges::all_of(last.theta, [](double value) { return std::isfinite(value); });
  if (finite && last.loss <= steps_.front().loss)
    verdict.fail(what);
  else
    verdict.fail_problem(what);
}

Verdict Oracle::judge(const Outputs& outputs, Reduce& reduce) {
  const std::scoped_lock lock(mutex_);
  using Problem = LogisticRegression;
  const auto theta = outputs.at(Problem::theta).values.values<const double>();
  const auto loss = outputs.at(Problem::loss).values.values<const double>();
  const std::int64_t taken = outputs.at(Problem::steps_taken).values.values<const std::int64_t>()[0];
  const std::size_t form = outputs.at(Problem::theta).form == Problem::library ? of_library : ours;
  Verdict verdict;
  judge_agreement(verdict, outputs, reduce);
  if (!verdict.passed()) return verdict;
  std::string wrong = divergence(theta, loss);
  if (wrong.empty()) wrong = wrong_count(taken, form, reduce);
  if (!wrong.empty()) {
    fail(verdict, wrong, taken, reduce);
    return verdict;
  }
  known_steps_ = count_steps(reduce);
  const Step &first = steps_.front(), &last = steps_[static_cast<std::size_t>(taken - 1)];
  const double end = loss[static_cast<std::size_t>(taken - 1)];
  if (end > first.loss + 2 * first.errors[form].loss)
    fail(verdict,
         "diverged: the loss has grown from " + all_digits(first.loss) + " to " + all_digits(end) +
             "; lower learning_rate",
         taken, reduce);
  verdict += judge_values("loss", loss, [&](std::int64_t i) {
    const Step& here = steps_[static_cast<std::size_t>(std::min(i, taken - 1))];
    return Expected{here.loss, here.errors[form].loss};
  });
  const bool stopped = problem_.newton && taken < problem_.steps;
  const Values& bound = stopped ? last.errors[ours].converged : last.errors[form].theta;
  verdict += judge_values("theta", theta, [&](std::int64_t j) {
    const auto component = static_cast<std::size_t>(j);
    return Expected{last.theta[component], bound[component]};
  });
  verdict.rows_checked = problem_.rows.size();
  verdict.figures = {{"loss", end},
                     accuracy(problem_, theta, reduce),
                     {"steps", static_cast<double>(taken)},
                     {"theta_bound", largest(bound)}};
  return verdict;
}

}  // namespace league::logistic
