// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/linear_regression.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "algorithms/generate.hpp"
#include "algorithms/judge.hpp"
#include "algorithms/with_type.hpp"

namespace league {
namespace {

constexpr const char* segmented_problem = "segmented";
constexpr const char* direct_problem = "normal_equations";

Method method(const std::string& name, const std::string& description,
              std::map<std::string, std::string> not_expressible, const std::string& problem = "",
              std::map<Dtype, std::string> units = {}) {
  return {.name = name,
          .description = description,
          .dtypes = {Dtype::f32, Dtype::f64},
          .not_expressible = std::move(not_expressible),
          .problem = problem,
          .units = std::move(units)};
}

std::vector<Parameter> parameters() {
  return {
      {.name = "points",
       .kind = Parameter::Kind::size,
       .standard = "50000",
       .least = 2,
       .description = "rows: the first 80 % train, the rest test"},
      {.name = "features",
       .kind = Parameter::Kind::size,
       .standard = "1",
       .least = 1,
       .most = LinearRegression::most_features,
       .description = "values of a row, from 1 to 32"},
      {.name = "steps", .standard = "200", .least = 1, .most = 1 << 24, .description = "epochs of gradient descent"},
      {.name = "learning_rate",
       .kind = Parameter::Kind::real,
       .standard = "0.01",
       .least = 0,
       .description = "step length over the gradient of half the mean squared error"},
      {.name = "start",
       .kind = Parameter::Kind::choice,
       .standard = "zero",
       .choices = {"zero", "study"},
       .description = "weights and bias before the first step: 0 and 0, or 0.83 and 0.7645"},
      {.name = "noise",
       .kind = Parameter::Kind::real,
       .standard = "0",
       .least = 0,
       .description = "standard deviation of what is added to the targets"}};
}

std::vector<Method> methods() {
  const std::string no_streams = "no streams on a host";
  const std::string alone = "one thread adds alone: see fused";
  return {method("atomic", "errors, then their sums with an atomic add for each point", {{"serial", alone}}),
          method("streams", "as atomic, a quarter of the rows on each of four streams: four times the gradient",
                 {{"serial", no_streams}, {"openmp", no_streams}}, segmented_problem),
          method("fused", "one pass; an atomic add for each team", {}),
          method("block_reduce", "one pass; the last team adds the sums of all", {{"serial", alone}}),
          method("graph", "the kernels of block_reduce, recorded into a graph",
                 {{"serial", no_launches}, {"openmp", no_launches}}),
          method("persistent", "one kernel for the whole solve, on one device", {{"serial", alone}}),
          method("normal_equations", "one pass for the Gram matrix in double, then a small solve", {}, direct_problem,
                 {{Dtype::f32, "f64"}})};
}

const RegisterAlgorithm registered{
    Algorithm{.name = LinearRegression::algorithm,
              .description = "least squares by gradient descent or the normal equations",
              .parameters = parameters(),
              .methods = methods(),
              .make = [](const Making& making) { return std::make_unique<LinearRegression>(making); }}};

int features_of(const Making& making) {
  const std::int64_t features = making.parameters.integer("features");
  require(features >= 1 && features <= LinearRegression::most_features,
          "features = " + std::to_string(features) + ": from 1 to " + std::to_string(LinearRegression::most_features));
  return static_cast<int>(features);
}

/// One feature: i * step on [0, 10), weight 0.7, bias 0.3. Several: values in [-1/2, 1/2) and weights of the same kind.
template <class T>
void fill(const LinearRegression& problem, std::uint64_t seed, double noise) {
  const std::span<T> x = problem.x.values<T>(), y = problem.y.values<T>();
  constexpr std::uint64_t weight_stream = 100, noise_stream = 200;
  const std::int64_t points = problem.points;
  const auto place = [](std::int64_t i) { return static_cast<std::size_t>(i); };
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < points; ++i) {
    double target = 0.3;
    for (int f = 0; f < problem.features; ++f) {
      const auto stream = static_cast<std::uint64_t>(f);
      T& value = x[place(f * points + i)];
      if (problem.features == 1)
        value = static_cast<T>(static_cast<double>(i) * (10.0 / static_cast<double>(points)));
      else
        value = random_value<T>(seed, stream, static_cast<std::uint64_t>(i));
      target += (problem.features == 1 ? 0.7 : random_value<double>(seed, weight_stream, stream)) *
                static_cast<double>(value);
    }
    if (noise > 0) target += noise * random_normal(seed, noise_stream, static_cast<std::uint64_t>(i));
    y[place(i)] = static_cast<T>(target);
  }
}

}  // namespace

LinearRegression::LinearRegression(const Making& making)
    : points(making.parameters.integer("points")),
      rows(points / 5 * 4 + points % 5 * 4 / 5),
      features(features_of(making)),
      dtype(making.dtype),
      direct(making.problem == direct_problem),
      segments(making.problem == segmented_problem ? most_segments : 1),
      steps(making.parameters.integer("steps")),
      rate(making.parameters.real("learning_rate")),
      start_weight(making.parameters.choice("start") == "study" ? 0.83 : 0),
      start_bias(making.parameters.choice("start") == "study" ? 0.7645 : 0) {
  const double noise = making.parameters.real("noise");
  require(points >= 2, "points = " + std::to_string(points) + ": from 2, of which one trains");
  require(steps >= 1, "steps = " + std::to_string(steps) + ": at least 1");
  require(std::isfinite(rate) && rate > 0, "learning_rate: finite and above 0");
  require(std::isfinite(noise) && noise >= 0, "noise: finite and not below 0");
  x = HostArray(making.memory, dtype, {features, points});
  y = HostArray(making.memory, dtype, {points});
  with_type<float, double>(dtype, [&]<class T>() { fill<T>(*this, making.seed, noise); });
}

Cost LinearRegression::cost() const {
  const auto n = static_cast<double>(rows), d = static_cast<double>(features);
  const double bytes = n * (d + 1) * static_cast<double>(size_bytes(dtype));
  if (direct) return {bytes, n * (d + 1) * (d + 2)};
  return {bytes * static_cast<double>(steps), n * (4 * d + 4) * static_cast<double>(steps)};
}

Outputs LinearRegression::make_outputs(std::pmr::memory_resource& memory) const {
  Outputs outputs{{"theta", HostArray(memory, Dtype::f64, {features + 1}), {0, features + 1}}};
  if (direct) return outputs;
  outputs.push_back({"loss", HostArray(memory, Dtype::f64, {steps}), {0, steps}});
  outputs.push_back({"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}});
  return outputs;
}

Outputs LinearRegression::inputs() const { return {{"x", x, {0, features}}, {"y", y, {0, points}}}; }

Range LinearRegression::segment(int number) const {
  const std::int64_t part = rows / segments, longer = rows % segments;
  const auto begin = [&](std::int64_t i) { return i * part + std::min(i, longer); };
  return {begin(number), begin(number + 1)};
}

least_squares::Moments LinearRegression::moments(Range range) const {
  return with_type<float, double>(dtype, [&]<class T>() {
    std::vector<const T*> columns;
    for (int f = 0; f <= features; ++f) columns.push_back(column<T>(f, {0, points}).data());
    return least_squares::moments_of(range.begin, range.end, features + 2, [&](std::int64_t row, const auto& put) {
      for (int f = 0; f < features; ++f) put(f, static_cast<double>(columns[static_cast<std::size_t>(f)][row]));
      put(features, 1);
      put(features + 1, static_cast<double>(columns.back()[row]));
    });
  });
}

/// Of a sum over the rows: features + 3 operations in T for the error of a row, its product, at most 32 terms added in
/// T before they are added in double, in any order; each is off by half an epsilon, so that the rest is to spare for
/// terms of second order.
double LinearRegression::unit() const {
  const double in_type = with_type<float, double>(dtype, [&]<class T>() { return (features + 36) * epsilon_of<T>; });
  return in_type + (static_cast<double>(rows) + 100) * std::numeric_limits<double>::epsilon();
}

least_squares::Descent LinearRegression::descent() const {
  least_squares::Moments gradient(features + 2), all(features + 2);
  for (int number = 0; number < segments; ++number) {
    const Range range = segment(number);
    if (range.size() == 0) continue;
    const least_squares::Moments part = moments(range);
    gradient.add(part, 1 / static_cast<long double>(range.size()));
    all.add(part, 1 / static_cast<long double>(rows));
  }
  std::vector<double> start(static_cast<std::size_t>(features), start_weight);
  start.push_back(start_bias);
  return {std::move(gradient), std::move(all), rate, 0.5, steps, std::move(start), unit()};
}

/// Products of floats are exact in double; a sum of n terms in any order, with the rounding of products of doubles.
least_squares::Minimum LinearRegression::minimum() const {
  const double rounding = (static_cast<double>(rows) + 8) * std::numeric_limits<double>::epsilon();
  return least_squares::minimise(moments({0, rows}), rounding);
}

Verdict LinearRegression::check(const Outputs& outputs) const {
  Verdict verdict = direct ? check_direct(outputs) : check_descent(outputs);
  const Range test_rows{rows, points};
  const auto fitted = outputs.at(theta).values.values<const double>();
  if (!test_) test_ = moments(test_rows);
  verdict.figures.emplace_back("test_mse", static_cast<double>(least_squares::squared_error(*test_, fitted) /
                                                               static_cast<long double>(test_rows.size())));
  return verdict;
}

Verdict LinearRegression::check_direct(const Outputs& outputs) const {
  if (!minimum_) minimum_ = minimum();
  const auto fitted = outputs.at(theta).values.values<const double>();
  Verdict verdict = judge_values("theta", fitted, [&](std::int64_t i) {
    return Expected{minimum_->theta[static_cast<std::size_t>(i)], minimum_->bound[static_cast<std::size_t>(i)]};
  });
  verdict.figures.emplace_back("condition", minimum_->condition);
  return verdict;
}

Verdict LinearRegression::check_descent(const Outputs& outputs) const {
  if (!descended_) descended_ = least_squares::descend(descent());
  return least_squares::judge(*descended_, outputs, dtype, static_cast<double>(rows));
}

}  // namespace league
