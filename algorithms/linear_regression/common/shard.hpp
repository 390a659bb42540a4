// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/drivers/iterative.hpp"
#include "algorithms/linear_regression/common/gram.hpp"

namespace league::linear_regression {

inline Rule rule_of(const LinearRegression& problem, int width) {
  Rule rule{.loss_scale = 0.5 / static_cast<double>(problem.rows),
            .steps = problem.steps,
            .segments = problem.segments,
            .features = problem.features,
            .width = width};
  for (int k = 0; k < problem.segments; ++k)
    rule.scale[k] = problem.rate / static_cast<double>(std::max<std::int64_t>(problem.segment(k).size(), 1));
  return rule;
}

/// The training rows of one shard, in the model's arrays.
template <class T, template <class> class Array>
struct RowMemory {
  RowMemory(VariantShard& shard, const LinearRegression& problem)
      : rows(shard.rows()), columns(static_cast<std::size_t>(problem.features) + 1) {
    for (int f = 0; f <= problem.features; ++f)
      shard.input(columns[static_cast<std::size_t>(f)], "linear_regression/column", problem.column<T>(f, rows));
  }
  [[nodiscard]] Columns<T> here() const { return here(rows); }
  /// Those that lie in `part` of the whole problem.
  [[nodiscard]] Columns<T> here(Range shard) const {
    const std::int64_t begin = std::clamp(shard.begin, rows.begin, rows.end), first = begin - rows.begin;
    Columns<T> data{.rows = std::clamp(shard.end, begin, rows.end) - begin,
                    .features = static_cast<int>(columns.size()) - 1};
    for (int f = 0; f < data.features; ++f) data.x[f] = columns[static_cast<std::size_t>(f)].data() + first;
    data.y = columns.back().data() + first;
    return data;
  }

  Range rows;
  std::vector<Array<T>> columns;  ///< features, then the target
};

/// The state of a solve on one shard, in the model's arrays.
template <template <class> class Array>
class FitShard : public IterativeShard {
 public:
  [[nodiscard]] Buffer sums() const override { return buffer_of(sums_.data(), sums_.size()); }

 protected:
  /// `width`: what the kernels' sums are laid out for.
  FitShard(const LinearRegression& problem, const Context& context, const Shard& shard, int width)
      : IterativeShard(context, shard), problem_(problem), rule_(rule_of(problem, width)) {
    declare(sums_, "linear_regression/sums", problem.segments * (width + 2));
    declare(theta_, "linear_regression/theta", problem.features + 1);
    whole_output(theta_, LinearRegression::theta);
    if (problem.direct) return;
    declare(loss_, "linear_regression/loss", problem.steps);
    declare(taken_, "linear_regression/steps", 1);
    whole_output(loss_, LinearRegression::loss);
    whole_output(taken_, LinearRegression::taken);
  }
  [[nodiscard]] State state() const { return {theta_.data(), loss_.data(), taken_.data()}; }

  const LinearRegression& problem_;
  const Rule rule_;
  Array<double> sums_, theta_, loss_;
  Array<std::int64_t> taken_;
};

/// P for the problem's type, and for a width that kernels are built for.
template <template <class> class P>
static std::unique_ptr<IterativeShard> by_type(const LinearRegression& problem, const Context& context,
                                               const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IterativeShard> {
    return std::make_unique<P<T>>(problem, context, shard);
  });
}
template <template <class, int> class P, int width>
static std::unique_ptr<IterativeShard> of_width(const LinearRegression& problem, const Context& context,
                                                const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<IterativeShard> {
    return std::make_unique<P<T, width>>(problem, context, shard);
  });
}
template <template <class, int> class P>
static std::unique_ptr<IterativeShard> by_width(const LinearRegression& problem, const Context& context,
                                                const Shard& shard) {
  if (problem.features == 1) return of_width<P, 1>(problem, context, shard);
  if (problem.features <= 4) return of_width<P, 4>(problem, context, shard);
  if (problem.features <= 12) return of_width<P, 12>(problem, context, shard);
  return of_width<P, LinearRegression::max_features>(problem, context, shard);
}
/// The width of the normal equations' blocks.
template <template <class, int> class P>
static std::unique_ptr<IterativeShard> by_block_width(const LinearRegression& problem, const Context& context,
                                                      const Shard& shard) {
  return with_block_width(problem.features, [&]<int width>() { return of_width<P, width>(problem, context, shard); });
}

}  // namespace league::linear_regression
