// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/linear_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/oracle/agree.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

constexpr const char* segmented_problem = "segmented";
constexpr const char* direct_problem = "normal_equations";

Method method(const std::string& name, const std::string& description,
              std::map<std::string, std::string> not_expressible, const std::string& problem = "",
              std::map<Dtype, std::string> units = {}, std::vector<Execution> executions = {Execution::stream}) {
  return {.name = name,
          .description = description,
          .dtypes = {Dtype::f32, Dtype::f64},
          .executions = std::move(executions),
          .not_expressible = std::move(not_expressible),
          .problem = problem,
          .units = std::move(units)};
}

std::vector<Parameter> parameters() {
  return {
      {.name = "points",
       .kind = Parameter::Kind::size,
       .default_value = "50000",
       .min = 2,
       .description = "rows: the first 80 % train, the rest test"},
      {.name = "features",
       .kind = Parameter::Kind::size,
       .default_value = "1",
       .min = 1,
       .max = LinearRegression::max_features,
       .description = "values of a row, from 1 to 32"},
      {.name = "steps", .default_value = "200", .min = 1, .max = 1 << 24, .description = "epochs of gradient descent"},
      {.name = "learning_rate",
       .kind = Parameter::Kind::real,
       .default_value = "0.01",
       .interval = above_zero,
       .description = "step length over the gradient of half the mean squared error"},
      {.name = "start",
       .kind = Parameter::Kind::choice,
       .default_value = "zero",
       .choices = {"zero", "study"},
       .description = "weights and bias before the first step: 0 and 0, or 0.83 and 0.7645"},
      {.name = "noise",
       .kind = Parameter::Kind::real,
       .default_value = "0",
       .interval = from_zero,
       .description = "standard deviation of what is added to the targets"}};
}

std::vector<Method> methods() {
  const std::string no_streams = "no streams on a host";
  const std::string alone = "one thread adds alone: see fused";
  const std::string hopper = "clusters of blocks are of NVIDIA's Hopper, inline PTX in CUDA only";
  const std::string registers =
      "what a lane of Kokkos holds in registers ends with its range, before the step's barrier";
  const std::string no_units = "no matrix units in plain code: see normal_equations";
  return {
      method("flat", "a reduction over a range of rows, mapped by Kokkos, then an update",
             only_kokkos("what Kokkos maps by itself: see fused")),
      method("atomic", "errors, then their sums with an atomic add for each point", {{"serial", alone}}),
      method("streams", "as atomic, a quarter of the rows on each of four streams: four times the gradient",
             {{"serial", no_streams}, {"openmp", no_streams}}, segmented_problem),
      method("fused", "one pass; an atomic add for each team", {}),
      method("block_reduce", "one pass; the last team adds the sums of all", {{"serial", alone}}, "", {}, recordable),
      method("persistent", "one kernel for the whole solve, on one device", {{"serial", alone}, {"kokkos", registers}}),
      method("persistent_segments", "as persistent, for the problem of streams",
             {{"serial", alone}, {"kokkos", registers}}, segmented_problem),
      method("persistent_cluster", "as persistent, its blocks one cluster of Hopper that adds in shared memory",
             {{"serial", hopper}, {"openmp", hopper}, {"kokkos", hopper}, {"hip", hopper}}),
      method("moments", "one pass for the moments of the data in double, then all steps on them, up to 10 features", {},
             "", {{Dtype::f32, "f64"}}),
      method("normal_equations", "one pass for the Gram matrix in double, then a small solve", {}, direct_problem,
             {{Dtype::f32, "f64"}}),
      method("normal_mma", "as normal_equations, all features in one pass by matrix units for doubles",
             {{"serial", no_units}, {"openmp", no_units}, {"kokkos", no_units}}, direct_problem,
             {{Dtype::f32, "f64 tensor"}, {Dtype::f64, "f64 tensor"}})};
}

const RegisterAlgorithm registered{
    Algorithm{.name = LinearRegression::algorithm,
              .description = "least squares by gradient descent or the normal equations",
              .parameters = parameters(),
              .methods = methods(),
              .make = [](const Making& making) { return std::make_unique<LinearRegression>(making); },
              .edge_cases = {{{"points", "3"}, {"steps", "3"}},
                             {{"points", "50"}, {"features", "5"}, {"steps", "4"}, {"noise", "0.1"}},
                             {{"points", "1333"}, {"steps", "9"}, {"start", "study"}},
                             {{"points", "701"}, {"features", "12"}, {"steps", "2"}},
                             {{"points", "901"}, {"features", "32"}, {"steps", "2"}}}}};

/// One feature: i * step on [0, 10), weight 0.7, bias 0.3. Several: values in [-1/2, 1/2) and weights of the same kind.
template <class T>
void fill(LinearRegression& problem) {
  const std::span<T> x = problem.x.values<T>(), y = problem.y.values<T>();
  constexpr std::uint64_t weight_stream = 100, noise_stream = 200;
  const std::int64_t here = problem.y.size(), trained = problem.local.size();
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < here; ++i) {
    const std::int64_t row = i < trained ? problem.local.begin + i : problem.test.begin + i - trained;
    const auto index = static_cast<std::uint64_t>(row);
    double target = 0.3;
    for (int f = 0; f < problem.features; ++f) {
      const auto stream = static_cast<std::uint64_t>(f);
      T& value = x[at(f * here + i)];
      if (problem.features == 1)
        value = static_cast<T>(static_cast<double>(row) * (10.0 / static_cast<double>(problem.points)));
      else
        value = random_value<T>(problem.seed, stream, index);
      target += (problem.features == 1 ? 0.7 : random_value<double>(problem.seed, weight_stream, stream)) *
                static_cast<double>(value);
    }
    if (problem.noise > 0) target += problem.noise * random_normal(problem.seed, noise_stream, index);
    y[at(i)] = static_cast<T>(target);
  }
}

}  // namespace

LinearRegression::LinearRegression(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      points(making.parameters.integer("points")),
      rows(points / 5 * 4 + points % 5 * 4 / 5),
      features(static_cast<int>(making.parameters.integer("features"))),
      direct(making.problem == direct_problem),
      segments(making.problem == segmented_problem ? max_segments : 1),
      steps(making.parameters.integer("steps")),
      rate(making.parameters.real("learning_rate")),
      start_weight(making.parameters.choice("start") == "study" ? 0.83 : 0),
      start_bias(making.parameters.choice("start") == "study" ? 0.7645 : 0),
      noise(making.parameters.real("noise")),
      seed(making.seed) {}

/// Test rows go where the training rows are: one for every four, what is left over with the last of them.
void LinearRegression::make_inputs(Range range, std::pmr::memory_resource& memory) {
  const auto first_test = [this](std::int64_t row) { return row == rows ? points : std::min(points, rows + row / 4); };
  local = range;
  test = {first_test(local.begin), first_test(local.end)};
  const std::int64_t here = local.size() + test.size();
  x = HostArray(memory, dtype, {features, here});
  y = HostArray(memory, dtype, {here});
  with_type<float, double>(dtype, [&]<class T>() { fill<T>(*this); });
}

/// Moments of the rows, and steps on them; or gradients from the rows, if that is less. Both may read the rows once.
Cost LinearRegression::cost() const {
  const auto n = static_cast<double>(rows), d = static_cast<double>(features), t = static_cast<double>(steps);
  const double bytes = n * (d + 1) * static_cast<double>(size_bytes(dtype));
  if (direct) return {.bytes = bytes, .operations = n * (d + 1) * (d + 2)};
  return {.bytes = bytes,
          .operations = std::min(n * (d + 2) * (d + 3) + t * (d + 1) * (2 * d + 7), t * n * (4 * d + 4)),
          .chain = t * (d + 2)};
}

/// Most descents read the rows in each step; `atomic` and `streams` write the errors of all rows, then read them with
/// the features once more.
double LinearRegression::method_bytes(std::string_view method) const {
  const double row_values = features + 1, more = features + 2;
  const bool twice = method == "atomic" || method == "streams";
  const bool each_step = twice || method == "flat" || method == "fused" || method == "block_reduce";
  return cost().bytes * (each_step ? static_cast<double>(steps) : 1) * (twice ? (row_values + more) / row_values : 1);
}

Outputs LinearRegression::make_outputs(Range /*local*/, std::pmr::memory_resource& memory) const {
  Outputs outputs{{"theta", HostArray(memory, Dtype::f64, {features + 1}), {0, features + 1}}};
  if (direct) return outputs;
  outputs.push_back({"loss", HostArray(memory, Dtype::f64, {steps}), {0, steps}});
  outputs.push_back({"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}});
  return outputs;
}

Outputs LinearRegression::inputs() const { return {{"x", x, {0, features}}, {"y", y, {0, points}}}; }

Range LinearRegression::segment(int number) const { return piece_of(rows, segments, number); }

least_squares::Moments LinearRegression::moments(Range range, Reduce& reduce) const {
  const Range& mine = range.begin < rows ? local : test;
  const std::int64_t begin = std::clamp(range.begin, mine.begin, mine.end);
  const Range here{begin, std::clamp(range.end, begin, mine.end)};
  least_squares::Moments sums = with_type<float, double>(dtype, [&]<class T>() {
    std::vector<const T*> columns;
    for (int f = 0; f <= features; ++f) columns.push_back(column<T>(f, here).data());
    return least_squares::moments_of(0, here.size(), features + 2, [&](std::int64_t row, const auto& put) {
      for (int f = 0; f < features; ++f) put(f, static_cast<double>(columns[static_cast<std::size_t>(f)][row]));
      put(features, 1);
      put(features + 1, static_cast<double>(columns.back()[row]));
    });
  });
  sums.sum_over(reduce);
  return sums;
}

/// Of a sum over the rows: features + 3 operations in T for the error of a row, its product, at most 44 additions in T
/// (of 32 rows, then of lanes) before they are added in double, in any order; each is off by half an epsilon, so that
/// the rest is to spare for terms of second order.
double LinearRegression::unit() const {
  const double in_type = with_type<float, double>(dtype, [&]<class T>() { return (features + 36) * epsilon_of<T>; });
  return in_type + (static_cast<double>(rows) + 100) * std::numeric_limits<double>::epsilon();
}

least_squares::Descent LinearRegression::descent(Reduce& reduce) const {
  least_squares::Moments gradient(features + 2), all(features + 2);
  for (int number = 0; number < segments; ++number) {
    const Range range = segment(number);
    if (range.size() == 0) continue;
    const least_squares::Moments part = moments(range, reduce);
    gradient.add(part, 1 / static_cast<long double>(range.size()));
    all.add(part, 1 / static_cast<long double>(rows));
  }
  std::vector<double> start(static_cast<std::size_t>(features), start_weight);
  start.push_back(start_bias);
  return {std::move(gradient), std::move(all), rate, 0.5, steps, std::move(start), unit()};
}

/// Products of floats are exact in double; a sum of n terms in any order, with the rounding of products of doubles.
least_squares::Minimum LinearRegression::minimum(Reduce& reduce) const {
  const double rounding = (static_cast<double>(rows) + 8) * std::numeric_limits<double>::epsilon();
  return least_squares::minimise(moments({0, rows}, reduce), rounding);
}

Verdict LinearRegression::check(const Outputs& outputs, Reduce& reduce) const {
  Verdict verdict = direct ? check_direct(outputs, reduce) : check_descent(outputs, reduce);
  judge_agreement(verdict, outputs, reduce);
  const Range test_rows{rows, points};
  const auto fitted = outputs.at(theta).values.values<const double>();
  if (!test_moments_) test_moments_ = moments(test_rows, reduce);
  verdict.figures.push_back({"test_mse", static_cast<double>(least_squares::squared_error(*test_moments_, fitted)),
                             static_cast<double>(test_rows.size())});
  return verdict;
}

Verdict LinearRegression::check_direct(const Outputs& outputs, Reduce& reduce) const {
  if (!minimum_) minimum_ = minimum(reduce);
  const auto fitted = outputs.at(theta).values.values<const double>();
  Verdict verdict = judge_values("theta", fitted, [&](std::int64_t i) {
    return Expected{minimum_->theta[static_cast<std::size_t>(i)], minimum_->bound[static_cast<std::size_t>(i)]};
  });
  verdict.figures.push_back({"condition", minimum_->condition});
  return verdict;
}

Verdict LinearRegression::check_descent(const Outputs& outputs, Reduce& reduce) const {
  if (!descended_) descended_ = least_squares::descend(descent(reduce));
  return least_squares::judge(*descended_, outputs, dtype, static_cast<double>(rows));
}

}  // namespace league
