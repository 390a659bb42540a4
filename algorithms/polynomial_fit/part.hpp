// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/polynomial_fit/points.hpp"
#include "algorithms/solve.hpp"

namespace league::polynomial_fit {

/// The memory of one shard and the state of its solve, whatever the model; `A<T>` is its array.
template <class T, template <class> class A>
class FitPart : public StepPart {
 public:
  [[nodiscard]] std::span<double> sums() override { return {sums_.data(), sums_a_step}; }

 protected:
  /// `make.operator()<U>(label, size)` allocates.
  template <class Make>
  FitPart(const PolynomialFit& problem, const Context& context, const Shard& shard, const Make& make)
      : StepPart(context, shard),
        alone_(context.shards.size() == 1),
        rule_{2 * problem.rate, problem.steps, {}},
        x_(make.template operator()<T>("polynomial_fit/x", rows().size())),
        y_(make.template operator()<T>("polynomial_fit/y", rows().size())),
        sums_(make.template operator()<double>("polynomial_fit/sums", sums_a_step)),
        theta_(make.template operator()<double>("polynomial_fit/theta", terms)),
        loss_(make.template operator()<double>("polynomial_fit/loss", problem.steps)),
        taken_(make.template operator()<std::int64_t>("polynomial_fit/steps", 1)) {
    for (int p = 0; p < terms; ++p) rule_.start[p] = problem.start[p];
    input(x_, problem.x.values<const T>(rows().begin, rows().end));
    input(y_, problem.y.values<const T>(rows().begin, rows().end));
    whole_output(theta_, PolynomialFit::theta);
    whole_output(loss_, PolynomialFit::loss);
    whole_output(taken_, PolynomialFit::taken);
  }
  [[nodiscard]] Points<T> points() { return {x_.data(), y_.data(), rows().size()}; }
  [[nodiscard]] State state() { return {theta_.data(), loss_.data(), taken_.data()}; }

  bool alone_;  ///< no other shard has sums to wait for
  Rule rule_;
  A<T> x_, y_;
  A<double> sums_, theta_, loss_;
  A<std::int64_t> taken_;
};

/// @throws Unsupported on several devices
inline void require_one_device(const Context& context) {
  if (context.shards.size() > 1)
    throw Unsupported("one kernel runs the whole solve: one device, not " + std::to_string(context.shards.size()));
}

}  // namespace league::polynomial_fit
