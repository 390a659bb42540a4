// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/budget.hpp"
#include "algorithms/linear_regression/rows.hpp"
#include "algorithms/solve.hpp"

namespace league::linear_regression {

/// The memory of one shard and the state of its solve, whatever the model; `A<T>` is its array.
template <class T, template <class> class A>
class RegressionPart : public StepPart {
 public:
  [[nodiscard]] std::span<double> sums() override { return {sums_.data(), static_cast<std::size_t>(sums_.size())}; }

 protected:
  /// `make.operator()<U>(label, size)` allocates; `width` is what the kernels' sums are laid out for, `extra` the bytes
  /// that they need beside.
  template <class Make>
  RegressionPart(const LinearRegression& problem, const Context& context, const Shard& shard, const Make& make,
                 int width, std::int64_t extra = 0)
      : StepPart(context, shard),
        problem_(problem),
        alone_(context.shards.size() == 1),
        rule_(rule_of(problem, width)) {
    require_memory(rows().size() * (problem.features + 1) * std::int64_t{sizeof(T)} + extra,
                   context.memory_budget_bytes);
    columns_.resize(static_cast<std::size_t>(problem.features) + 1);
    for (int f = 0; f <= problem.features; ++f) {
      A<T>& column = columns_[static_cast<std::size_t>(f)];
      column = make.template operator()<T>("linear_regression/column", rows().size());
      input(column, problem.column<T>(f, rows()));
    }
    sums_ = make.template operator()<double>("linear_regression/sums", problem.segments * (width + 2));
    theta_ = make.template operator()<double>("linear_regression/theta", problem.features + 1);
    whole_output(theta_, LinearRegression::theta);
    if (problem.direct) return;
    loss_ = make.template operator()<double>("linear_regression/loss", problem.steps);
    taken_ = make.template operator()<std::int64_t>("linear_regression/steps", 1);
    whole_output(loss_, LinearRegression::loss);
    whole_output(taken_, LinearRegression::taken);
  }

  /// The training rows, or those of them that lie in `part` of the whole problem.
  [[nodiscard]] Columns<T> data() { return data(rows()); }
  [[nodiscard]] Columns<T> data(Range part) {
    const std::int64_t begin = std::clamp(part.begin, rows().begin, rows().end);
    Columns<T> data{.rows = std::clamp(part.end, begin, rows().end) - begin, .features = problem_.features};
    for (int f = 0; f < problem_.features; ++f) data.x[f] = columns_[static_cast<std::size_t>(f)].data() + first(begin);
    data.y = columns_.back().data() + first(begin);
    return data;
  }
  [[nodiscard]] State state() { return {theta_.data(), loss_.data(), taken_.data()}; }

  const LinearRegression& problem_;
  bool alone_;  ///< no other shard has sums to wait for
  Rule rule_;
  std::vector<A<T>> columns_;  ///< features, then the target
  A<double> sums_, theta_, loss_;
  A<std::int64_t> taken_;

 private:
  [[nodiscard]] std::int64_t first(std::int64_t row) const { return row - rows().begin; }
  static Rule rule_of(const LinearRegression& problem, int width) {
    Rule rule{.loss_scale = 0.5 / static_cast<double>(problem.rows),
              .steps = problem.steps,
              .segments = problem.segments,
              .features = problem.features,
              .width = width};
    for (int k = 0; k < problem.segments; ++k)
      rule.scale[k] = problem.rate / static_cast<double>(std::max<std::int64_t>(problem.segment(k).size(), 1));
    return rule;
  }
};

/// Calls `body.operator()<width>()` with the least width that kernels are built for.
template <class Body>
std::unique_ptr<Prepared> with_width(int features, const Body& body) {
  if (features == 1) return body.template operator()<1>();
  if (features <= 4) return body.template operator()<4>();
  if (features <= 12) return body.template operator()<12>();
  return body.template operator()<LinearRegression::most_features>();
}

/// @throws Unsupported on several devices
inline void require_one_device(const Context& context) {
  if (context.shards.size() > 1)
    throw Unsupported("one kernel runs the whole solve: one device, not " + std::to_string(context.shards.size()));
}

}  // namespace league::linear_regression
