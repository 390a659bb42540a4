// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/polynomial_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/agree.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

const RegisterAlgorithm registered{
    Algorithm{.name = PolynomialFit::algorithm,
              .description = "a cubic fitted to sin x by gradient descent",
              .parameters = {{.name = "points",
                              .kind = Parameter::Kind::size,
                              .default_value = "2000",
                              .min = 2,
                              .description = "values of x"},
                             {.name = "steps",
                              .default_value = "2000",
                              .min = 1,
                              .max = 1 << 24,
                              .description = "steps of gradient descent"},
                             {.name = "learning_rate",
                              .kind = Parameter::Kind::real,
                              .default_value = "1e-06",
                              .interval = above_zero,
                              .description = "step length over the gradient of the sum of squared errors"}},
              .methods = {{.name = "flat",
                           .description = "a reduction over a range of points, mapped by Kokkos, then an update",
                           .dtypes = {Dtype::f32, Dtype::f64},
                           .not_expressible = only_kokkos("what Kokkos maps by itself: see stepwise")},
                          {.name = "stepwise",
                           .description = "one pass and a team that finishes, launched for each step",
                           .dtypes = {Dtype::f32, Dtype::f64},
                           .executions = {Execution::stream, Execution::graph, Execution::kokkos_graph}},
                          {.name = "persistent",
                           .description = "one kernel for the whole solve, on one device",
                           .dtypes = {Dtype::f32, Dtype::f64},
                           .not_expressible = {{"serial", "one thread has no launches to save: see stepwise"},
                                               {"kokkos",
                                                "what a lane of Kokkos holds in registers ends with its range, before "
                                                "the step's barrier"}}},
                          {.name = "moments",
                           .description = "one pass for sums of powers in double, then all steps on them",
                           .dtypes = {Dtype::f32, Dtype::f64},
                           .units = {{Dtype::f32, "f64"}}}},
              .make = [](const Making& making) { return std::make_unique<PolynomialFit>(making); },
              .edge_cases = {{{"points", "2"}, {"steps", "3"}},
                             {{"points", "17"}, {"steps", "9"}},
                             {{"points", "9001"}, {"steps", "20"}, {"learning_rate", "1e-7"}}}}};

}  // namespace

PolynomialFit::PolynomialFit(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      points(making.parameters.integer("points")),
      steps(making.parameters.integer("steps")),
      rate(making.parameters.real("learning_rate")) {
  for (int p = 0; p < terms; ++p) start[p] = random_normal(making.seed, 0, static_cast<std::uint64_t>(p));
}

void PolynomialFit::make_inputs(Range local, std::pmr::memory_resource& memory) {
  rows = local;
  x = HostArray(memory, dtype, {rows.size()});
  y = HostArray(memory, dtype, {rows.size()});
  with_type<float, double>(dtype, [&]<class T>() {
    const std::span<T> xs = x.values<T>(), ys = y.values<T>();
    const double step = 2 * std::numbers::pi / static_cast<double>(points - 1);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const auto i = static_cast<std::size_t>(row - rows.begin);
      const double value = static_cast<double>(row) * step - std::numbers::pi;
      xs[i] = static_cast<T>(value);
      ys[i] = static_cast<T>(std::sin(value));
    }
  });
}

/// Sums of powers of the points, and steps on them; or gradients from the points, if that is less. Both may read the
/// points once.
Cost PolynomialFit::cost() const {
  const auto n = static_cast<double>(points), t = static_cast<double>(steps);
  return {.bytes = 2 * n * static_cast<double>(size_bytes(dtype)),
          .operations = std::min(20 * n + 52 * t, 20 * n * t),
          .chain = t * (terms + 1)};
}

double PolynomialFit::method_bytes(std::string_view method) const {
  return cost().bytes * (method == "stepwise" || method == "flat" ? static_cast<double>(steps) : 1);
}

Outputs PolynomialFit::make_outputs(Range /*local*/, std::pmr::memory_resource& memory) const {
  return {{"theta", HostArray(memory, Dtype::f64, {terms}), {0, terms}},
          {"loss", HostArray(memory, Dtype::f64, {steps}), {0, steps}},
          {"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}}};
}

Outputs PolynomialFit::inputs() const {
  HostArray first(*std::pmr::new_delete_resource(), Dtype::f64, {terms});
  std::ranges::copy(start, first.values<double>().begin());
  return {{"x", x, rows}, {"y", y, rows}, {"start", first, {0, terms}}};
}

/// Rounding of a sum over the points: two for the powers, nine for the error (the coefficients' own too), two for the
/// product, at most 32 additions in T before they are added in double, in any order; each is off by half an epsilon,
/// so that the rest is to spare for terms of second order.
least_squares::Descent PolynomialFit::descent(Reduce& reduce) const {
  return with_type<float, double>(dtype, [&]<class T>() -> least_squares::Descent {
    const std::span<const T> xs = x.values<const T>(), ys = y.values<const T>();
    least_squares::Moments all =
        least_squares::moments_of(0, rows.size(), terms + 1, [&](std::int64_t row, const auto& put) {
          const auto value = static_cast<double>(xs[static_cast<std::size_t>(row)]);
          put(0, 1);
          put(1, value);
          put(2, value * value);
          put(3, value * value * value);
          put(terms, static_cast<double>(ys[static_cast<std::size_t>(row)]));
        });
    all.sum_over(reduce);
    least_squares::Moments gradient(terms + 1);
    gradient.add(all, 2);
    const double unit =
        45 * epsilon_of<T> + (static_cast<double>(points) + 100) * std::numeric_limits<double>::epsilon();
    return {std::move(gradient), std::move(all), rate, 1, steps, {start, start + terms}, unit};
  });
}

Verdict PolynomialFit::check(const Outputs& outputs, Reduce& reduce) const {
  if (!descended_) descended_ = least_squares::descend(descent(reduce));
  Verdict verdict = least_squares::judge(*descended_, outputs, dtype);
  judge_agreement(verdict, outputs, reduce);
  return verdict;
}

}  // namespace league
