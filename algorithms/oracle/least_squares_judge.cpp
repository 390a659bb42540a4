// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>

#include "algorithms/oracle/judge.hpp"
#include "algorithms/oracle/least_squares.hpp"

namespace league::least_squares {
namespace {

double largest(Dtype dtype) {
  return dtype == Dtype::f64 ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
}

auto expect(const std::vector<double>& values, const std::vector<double>& bounds) {
  return [&](std::int64_t i) {
    return Expected{values[static_cast<std::size_t>(i)], bounds[static_cast<std::size_t>(i)]};
  };
}

}  // namespace

Verdict judge(const Descended& right, const Outputs& outputs, Dtype dtype, double summed) {
  enum Index : std::size_t { theta, loss, taken };
  const auto losses = outputs.at(loss).values.values<const double>();
  for (std::size_t i = 0; i < losses.size(); ++i) {
    // A type with a smaller range than the oracle's overflows earlier: in the square of one row's error, or in a sum of
    // a few.
    const bool in_range = right.loss[i] * 64 * summed < largest(dtype);
    if (in_range || std::isfinite(losses[i])) continue;
    Verdict diverged{.rows_checked = static_cast<std::int64_t>(i)};
    diverged.fail_problem("diverged: the loss is not finite from step " + std::to_string(i) +
                          " on; lower learning_rate");
    return diverged;
  }
  const auto steps = static_cast<double>(right.loss.size());
  Verdict verdict =
      judge_values("theta", outputs.at(theta).values.values<const double>(), expect(right.theta, right.theta_bound));
  verdict += judge_values("loss", losses, expect(right.loss, right.loss_bound));
  verdict += judge_values("steps", outputs.at(taken).values.values<const std::int64_t>(),
                          [steps](std::int64_t) { return Expected{steps, 0}; });
  if (right.loss.back() > right.loss.front())
    verdict.fail_problem("diverged: the loss grows from " + all_digits(right.loss.front()) + " to " +
                         all_digits(right.loss.back()) + "; lower learning_rate");
  verdict.figures.push_back({"train_loss", losses.back()});
  return verdict;
}

}  // namespace league::least_squares
