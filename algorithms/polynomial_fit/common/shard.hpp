// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/drivers/iterative.hpp"
#include "algorithms/polynomial_fit/common/moments.hpp"

namespace league::polynomial_fit {

/// The points of one shard, in the model's arrays.
template <class T, template <class> class Array>
struct PointMemory {
  PointMemory(VariantShard& shard, const PolynomialFit& problem) {
    const Range here{shard.rows().begin - problem.rows.begin, shard.rows().end - problem.rows.begin};
    shard.input(x, "polynomial_fit/x", problem.x.values<const T>(here.begin, here.end));
    shard.input(y, "polynomial_fit/y", problem.y.values<const T>(here.begin, here.end));
  }
  [[nodiscard]] Points<T> points() const { return {x.data(), y.data(), x.size()}; }
  Array<T> x, y;
};

/// The state of a solve on one shard, in the model's arrays.
template <template <class> class Array>
class FitShard : public IterativeShard {
 public:
  [[nodiscard]] Buffer sums() const override { return buffer_of(sums_.data(), sums_.size()); }

 protected:
  /// `sums`: that `accumulate` leaves.
  FitShard(const PolynomialFit& problem, const Context& context, const Shard& shard, int sums = sums_per_step)
      : IterativeShard(context, shard),
        rule_{2 * problem.rate, problem.steps, {}},
        points_(static_cast<double>(problem.points)) {
    for (int p = 0; p < terms; ++p) rule_.start[p] = problem.start[p];
    declare(sums_, "polynomial_fit/sums", sums);
    declare(theta_, "polynomial_fit/theta", terms);
    declare(loss_, "polynomial_fit/loss", problem.steps);
    declare(taken_, "polynomial_fit/steps", 1);
    whole_output(theta_, PolynomialFit::theta);
    whole_output(loss_, PolynomialFit::loss);
    whole_output(taken_, PolynomialFit::taken);
  }
  [[nodiscard]] State state() const { return {theta_.data(), loss_.data(), taken_.data()}; }

  Rule rule_;
  const double points_;  ///< of all shards
  Array<double> sums_, theta_, loss_;
  Array<std::int64_t> taken_;
};

/// P for the problem's type, as its base class `Base`.
template <template <class> class P, class Base = IterativeShard>
static std::unique_ptr<Base> by_type(const PolynomialFit& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<Base> {
    return std::make_unique<P<T>>(problem, context, shard);
  });
}

}  // namespace league::polynomial_fit
