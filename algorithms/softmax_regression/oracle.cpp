// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/oracle.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/oracle/agree.hpp"
#include "algorithms/oracle/generate.hpp"
#include "backends/launch.hpp"

namespace league::softmax_regression {
namespace {

double norm_of(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

double distance(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

/// The largest eigenvalue of the Hessian along the path, by one power iteration per step; 0 if no step can be longer
/// than 2 / that eigenvalue.
class Curvature {
 public:
  Curvature(const SoftmaxRegression& problem, std::size_t size) {
    const double largest =
        problem.data.train.dtype() == Dtype::u8 ? max_squares<std::uint8_t>(problem) : max_squares<float>(problem);
    // bound of any Hessian: p (1 - p) and p q contribute at most 1 / 2
    limit_ = largest * problem.scale * problem.scale / 2;
    if (problem.learning_rate * (limit_ + problem.l2) <= 2) return;
    direction_.resize(size);
    for (std::size_t i = 0; i < size; ++i) direction_[i] = random_value<double>(1, 0, i);
    normalise();
  }
  [[nodiscard]] const std::vector<double>& direction() const { return direction_; }
  /// @returns the eigenvalue, plus a tenth for incomplete convergence
  double follow(std::vector<double> curved) {
    if (direction_.empty()) return limit_;
    direction_ = std::move(curved);
    return std::min(limit_, 1.1 * normalise());
  }

 private:
  /// The largest squared norm of a stored row; from the dataset, which every process has whole.
  template <class T>
  static double max_squares(const SoftmaxRegression& problem) {
    const double one = std::round(1 / problem.scale);  // the constant feature
    double largest = 0;
    for (std::int64_t row = 0; row < problem.extent(); ++row) {
      double squares = 0;
      for (const T value : problem.data.train.values<const T>(row, row + 1))
        squares += static_cast<double>(value) * static_cast<double>(value);
      largest = std::max(largest, squares + one * one);
    }
    return largest;
  }
  double normalise() {
    const double norm = norm_of(direction_);
    for (double& value : direction_) value /= norm > 0 ? norm : 1;
    return norm;
  }
  double limit_ = 0;
  std::vector<double> direction_;
};

Path descend(const SoftmaxRegression& problem, Reduce& reduce) {
  Path path;
  path.theta.resize(static_cast<std::size_t>((problem.features + 1) * problem.classes));
  const Rule rule{
      .all_rows = problem.extent(), .batch = problem.batch, .batches = ceil_div(problem.extent(), problem.batch)};
  Curvature curvature(problem, path.theta.size());
  constexpr int warm_up = 8;
  for (int i = 0; i < warm_up && !curvature.direction().empty(); ++i)
    curvature.follow(evaluate(problem, rule.batch_of(0), path.theta, curvature.direction(), reduce).curvature);

  for (std::int64_t step = 0; step < problem.steps; ++step) {
    const Rows rows = rule.batch_of(step);
    Evaluation at = evaluate(problem, rows, path.theta, curvature.direction(), reduce);
    const double steepest = curvature.follow(std::move(at.curvature)), slope = norm_of(at.gradient);
    // Our kernels add at most 256 rows in f32, then this many of these sums; a library adds all rows.
    const auto count = static_cast<double>(rows.last - rows.first);
    const std::array<double, 2> depths{std::min(count, 256 + count / 256) + 8, count + 8};
    path.losses.push_back(at.loss);
    const double growth = std::max(1.0, problem.learning_rate * (steepest + problem.l2) - 1);
    path.growth *= growth;
    for (const Sum sum : {own, product}) {
      double& bound = path.theta_bound[sum];
      path.loss_bounds[sum].push_back(at.loss_error + slope * bound + (steepest + problem.l2) / 2 * bound * bound +
                                      8 * epsilon_of<double> * at.loss);
      bound = growth * bound +
              problem.learning_rate * (at.residual_error + roundings(depths[sum]) * eps * at.residual) +
              8 * epsilon_of<double> * norm_of(path.theta);
    }
    for (std::size_t i = 0; i < path.theta.size(); ++i) path.theta[i] -= problem.learning_rate * at.gradient[i];
  }
  return path;
}

}  // namespace

const Path& Oracle::path(Reduce& reduce) {
  std::call_once(once_, [&] { path_ = descend(problem_, reduce); });
  return path_;
}

std::vector<std::int32_t> predict(const SoftmaxRegression& problem, std::span<const double> theta) {
  const std::int64_t features = problem.features, classes = problem.classes;
  std::vector<std::int32_t> labels(static_cast<std::size_t>(problem.data.test.rows()));
  const auto classify = [&](const auto* rows) {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < problem.data.test.rows(); ++row) {
      std::array<double, SoftmaxRegression::max_classes> z{};
      const double* bias = theta.data() + features * classes;
      for (std::int64_t f = 0; f < features; ++f) {
        const double x = static_cast<double>(rows[row * features + f]) * problem.scale;
        for (std::int64_t c = 0; c < classes; ++c)
          z[static_cast<std::size_t>(c)] += x * theta[static_cast<std::size_t>(f * classes + c)];
      }
      for (std::int64_t c = 0; c < classes; ++c) z[static_cast<std::size_t>(c)] += bias[c];
      labels[static_cast<std::size_t>(row)] =
          static_cast<std::int32_t>(std::max_element(z.begin(), z.begin() + classes) - z.begin());
    }
  };
  if (problem.data.test.dtype() == Dtype::u8)
    classify(problem.data.test.values<const std::uint8_t>().data());
  else
    classify(problem.data.test.values<const float>().data());
  return labels;
}

namespace {

/// Why the result of this descent cannot be checked (divergence); empty if it can. `whole`: every step takes all rows.
std::string diverged(const Path& path, std::span<const double> losses, Sum sum, bool whole) {
  constexpr const char* advice = "; lower learning_rate";
  for (const std::span<const double> all : {losses, std::span<const double>(path.losses)}) {
    const auto wrong = std::ranges::find_if(all, [](double value) { return !std::isfinite(value); });
    if (wrong != all.end())
      return "diverged: the loss is not finite from step " + std::to_string(wrong - all.begin()) + " on" + advice;
  }
  if (whole && path.losses.back() > path.losses.front())
    return "diverged: the loss rises from " + all_digits(path.losses.front()) + " to " +
           all_digits(path.losses.back()) + advice;
  if (path.growth > 1e3 && !(path.theta_bound[sum] < norm_of(path.theta)))
    return "diverged: the steps make an error " + all_digits(path.growth) + " times as large" + advice;
  return {};
}

Figure accuracy(const SoftmaxRegression& problem, std::span<const double> theta) {
  const auto labels = problem.data.test_labels.values<const std::int32_t>();
  const std::vector<std::int32_t> found = predict(problem, theta);
  std::int64_t right = 0;
  for (std::size_t row = 0; row < found.size(); ++row) right += found[row] == labels[row] ? 1 : 0;
  return {"accuracy", static_cast<double>(right), static_cast<double>(found.size())};
}

/// Another solver's theta: its loss over all rows is at most that of the descent after the last step. Both losses are
/// allowed the error of a descent with a library's products.
void judge_loss(Verdict& verdict, const SoftmaxRegression& problem, const Path& path, std::span<const double> theta,
                Reduce& reduce) {
  const Rows all{0, problem.extent()};
  const double expected = evaluate(problem, all, path.theta, {}, reduce).loss;
  const Evaluation found = evaluate(problem, all, {theta.begin(), theta.end()}, {}, reduce);
  const double bound = path.loss_bounds[product].back() + found.loss_error;
  if (!(found.loss <= expected + bound))
    verdict.fail("the loss at theta is " + all_digits(found.loss) + ", expected at most " + all_digits(expected) +
                 ", that of the descent after its last step, within " + all_digits(bound));
  verdict.figures.push_back({"last_loss", found.loss});
}

}  // namespace

Verdict judge(const SoftmaxRegression& problem, Oracle& oracle, const Outputs& outputs, Reduce& reduce) {
  const Output& theta_output = outputs.at(SoftmaxRegression::theta);
  const auto theta = theta_output.values.values<const double>();
  const bool descends = theta_output.form != SoftmaxRegression::equal_loss;  // other solvers have no loss per step
  const auto losses =
      descends ? outputs.at(SoftmaxRegression::loss).values.values<const double>() : std::span<const double>{};
  const std::int64_t steps = outputs.at(SoftmaxRegression::steps_taken).values.values<const std::int64_t>()[0];
  const Sum sum = theta_output.form == SoftmaxRegression::product ? product : own;
  const Path& path = oracle.path(reduce);
  Verdict verdict;
  judge_agreement(verdict, outputs, reduce);

  const bool whole = problem.batch == problem.extent();
  if (const std::string why = diverged(path, losses, sum, whole); !why.empty()) {
    if (diverged(path, {}, sum, whole).empty())
      verdict.fail(why);
    else
      verdict.fail_problem(why);
    return verdict;
  }
  if (!descends) {
    judge_loss(verdict, problem, path, theta, reduce);
    if (problem.data.test.rows() > 0) verdict.figures.push_back(accuracy(problem, theta));
    verdict.figures.push_back({"iterations", static_cast<double>(steps)});
    return verdict;
  }
  verdict += judge_values("loss", losses, [&](std::int64_t step) {
    const auto i = static_cast<std::size_t>(step);
    return Expected{path.losses[i], path.loss_bounds[sum][i]};
  });
  const double off = distance(theta, path.theta);
  verdict.worst = std::max(verdict.worst, off / path.theta_bound[sum]);
  if (!(off <= path.theta_bound[sum]))
    verdict.fail("theta is " + all_digits(off) + " away from the right one, a norm of at most " +
                 all_digits(path.theta_bound[sum]) + " expected");
  if (steps != problem.steps)
    verdict.fail("steps is " + std::to_string(steps) + ", expected " + std::to_string(problem.steps));
  if (problem.data.test.rows() > 0) verdict.figures.push_back(accuracy(problem, theta));
  verdict.figures.push_back({"last_loss", losses.back()});
  return verdict;
}

}  // namespace league::softmax_regression
