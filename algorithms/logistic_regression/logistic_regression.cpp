// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/logistic_regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/logistic_regression/oracle.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league {
namespace {

constexpr std::int64_t max_rows = std::int64_t{1} << 40, max_steps = 100'000;

const std::string alone = "one region for all steps gains nothing on a host; compare fused";
const std::string no_units = "needs matrix units, which plain code lacks; compare newton";
const std::vector<Dtype> reals{Dtype::f32, Dtype::f64};

const RegisterAlgorithm registered{Algorithm{
    .name = LogisticRegression::algorithm,
    .description = "binary logistic regression: gradient descent, Newton",
    .parameters = {{.name = "rows",
                    .kind = Parameter::Kind::size,
                    .default_value = "10000",
                    .max = max_rows,
                    .description = "rows"},
                   {.name = "features",
                    .kind = Parameter::Kind::size,
                    .default_value = "2",
                    .max = LogisticRegression::max_features,
                    .description = "without the intercept"},
                   {.name = "data",
                    .kind = Parameter::Kind::choice,
                    .default_value = "generated",
                    .choices = {"generated", "a2", "a3", "a4"},
                    .description = "a2, a3, a4: the generators of the studies, 2 features"},
                   {.name = "steps", .default_value = "100", .max = max_steps, .description = "at most"},
                   {.name = "learning_rate",
                    .kind = Parameter::Kind::real,
                    .default_value = "0.01",
                    .interval = above_zero,
                    .description = "of gradient descent; not for `newton`"},
                   {.name = "l2",
                    .kind = Parameter::Kind::real,
                    .default_value = "0",
                    .interval = from_zero,
                    .description = "penalty l2 / 2 |theta|^2, not of the intercept"},
                   {.name = "tolerance",
                    .kind = Parameter::Kind::real,
                    .default_value = "0",
                    .interval = from_zero,
                    .description = "stop after a step whose largest gradient component is below it; 0: never"}},
    .methods = {{.name = "fused",
                 .description = "each row read once per step: logit, loss and gradient together",
                 .dtypes = reals,
                 .executions = recordable},
                {.name = "persistent",
                 .description = "one kernel for the whole solve, on one device",
                 .dtypes = reals,
                 .not_expressible = {{"serial", alone},
                                     {"openmp", alone},
                                     {"kokkos",
                                      "what a lane of Kokkos holds in registers ends with its range, before the "
                                      "step's barrier"}}},
                {.name = "unfused",
                 .description = "as libraries do it: product, loss, product, one pass each",
                 .dtypes = reals,
                 .libraries = {"cublas", "rocblas", "kokkos_kernels"}},
                {.name = "flat",
                 .description = "a reduction over a range of rows to an array, mapped by Kokkos",
                 .dtypes = reals,
                 .not_expressible = only_kokkos("a policy of Kokkos; compare fused")},
                {.name = "newton",
                 .description = "damped Newton steps, the Hessian added in the same pass",
                 .dtypes = reals,
                 .executions = recordable,
                 .problem = "newton"},
                {.name = "newton_mma",
                 .description = "as newton, the Hessian by matrix units for doubles",
                 .dtypes = reals,
                 .executions = recordable,
                 .not_expressible = {{"serial", no_units}, {"openmp", no_units}, {"kokkos", no_units}},
                 .problem = "newton",
                 .units = {{Dtype::f32, "f64 tensor"}, {Dtype::f64, "f64 tensor"}}}},
    .make = [](const Making& making) { return std::make_unique<LogisticRegression>(making); },
    .edge_cases = {{{"rows", "1"}, {"features", "1"}, {"steps", "3"}, {"l2", "0.1"}},
                   {{"rows", "2"}, {"features", "3"}, {"steps", "4"}, {"l2", "0.1"}, {"tolerance", "0.01"}},
                   {{"rows", "777"}, {"features", "8"}, {"steps", "6"}, {"l2", "0.05"}, {"learning_rate", "0.5"}},
                   {{"rows", "1031"}, {"features", "11"}, {"steps", "5"}, {"learning_rate", "0.1"}},
                   {{"rows", "405"}, {"features", "33"}, {"steps", "3"}, {"l2", "0.1"}},
                   {{"rows", "603"}, {"features", "64"}, {"steps", "3"}, {"l2", "0.1"}, {"tolerance", "0.001"}}}}};

/// The first row for which `is_wrong(row)`; `rows` if none.
template <class IsWrong>
std::int64_t first_wrong(std::int64_t rows, const IsWrong& is_wrong) {
  std::int64_t first = rows;
#pragma omp parallel for schedule(static) reduction(min : first)
  for (std::int64_t row = 0; row < rows; ++row)
    if (is_wrong(static_cast<std::size_t>(row))) first = std::min(first, row);
  return first;
}

template <class T>
void require_finite(const LogisticRegression& problem) {
  for (int feature = 0; feature < problem.features; ++feature) {
    const auto column = problem.column<T>(feature, problem.rows);
    const std::int64_t row =
        first_wrong(problem.extent(), [column](std::size_t i) { return !std::isfinite(column[i]); });
    if (row < problem.extent())
      throw std::invalid_argument("row " + std::to_string(row) + ", feature " + std::to_string(feature) + " is " +
                                  std::to_string(column[static_cast<std::size_t>(row)]) + ": takes finite numbers");
  }
}

}  // namespace

LogisticRegression::LogisticRegression(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      data(making.parameters.choice("data")),
      seed(making.seed),
      newton(making.problem == "newton"),
      steps(making.parameters.integer("steps")),
      learning_rate(making.parameters.real("learning_rate")),
      l2(making.parameters.real("l2")),
      tolerance(making.parameters.real("tolerance")),
      all_rows(making.parameters.integer("rows")),
      features(static_cast<int>(making.parameters.integer("features"))),
      oracle_(std::make_unique<logistic::Oracle>(*this)) {
  require(dtype == Dtype::f32 || dtype == Dtype::f64, "dtype " + std::string(name(dtype)) + ": takes f32 and f64");
  require(data == "generated" || features == 2,
          "data = \"" + data + "\" has 2 features, not features = " + std::to_string(features));
}

LogisticRegression::~LogisticRegression() = default;

/// Rows are read once: what of them can stay on a device from step to step depends on the device. Newton's Hessian only
/// sets the direction of a step, so that its products may be of any precision.
Cost LogisticRegression::cost() const {
  const double entries = features + 1;
  const double per_row = 4.0 * features + 20 + (newton ? entries * (entries + 1) : 0);
  const auto all = static_cast<double>(all_rows), passes = all * static_cast<double>(oracle_->steps());
  return {.bytes = all * (features * static_cast<double>(size_bytes(dtype)) + 1),
          .operations = passes * per_row,
          .best_unit = newton ? "f16 tensor" : "",
          .other_operations = {{"exp", passes}}};
}

/// All read the rows in each step. `unfused` reads the features twice; logits are written, read, written as p - y and
/// read again.
double LogisticRegression::method_bytes(std::string_view method) const {
  const double value = static_cast<double>(size_bytes(dtype)), row = features * value + 1;
  static constexpr std::array own{"fused", "flat", "persistent", "unfused", "newton", "newton_mma"};
  const bool each_step = std::ranges::find(own, method) != own.end();
  const double once = cost().bytes * (method == "unfused" ? (row + (features + 4) * value) / row : 1);
  return once * (each_step ? static_cast<double>(oracle_->steps()) : 1);
}

void LogisticRegression::make_inputs(Range local, std::pmr::memory_resource& memory) {
  rows = local;
  columns = HostArray(memory, dtype, {features, rows.size()});
  labels = HostArray(memory, Dtype::u8, {rows.size()});
  logistic::generate(*this, columns, labels);
}

void LogisticRegression::take_inputs(HostArray given_columns, HostArray given_labels) {
  require(given_labels.rows() == all_rows,
          std::to_string(given_labels.rows()) + " labels for " + std::to_string(all_rows) + " rows");
  rows = {0, all_rows};
  columns = std::move(given_columns), labels = std::move(given_labels);
  const auto classes = labels_of(rows);
  if (const std::int64_t row = first_wrong(all_rows, [classes](std::size_t i) { return classes[i] > 1; });
      row < all_rows)
    throw std::invalid_argument("row " + std::to_string(row) + " has label " +
                                std::to_string(classes[static_cast<std::size_t>(row)]) + ": takes 0 and 1");
  if (dtype == Dtype::f64)
    require_finite<double>(*this);
  else
    require_finite<float>(*this);
}

Outputs LogisticRegression::make_outputs(Range /*local*/, std::pmr::memory_resource& memory) const {
  return {{"theta", HostArray(memory, Dtype::f64, {features + 1}), {0, features + 1}},
          {"loss", HostArray(memory, Dtype::f64, {steps}), {0, steps}},
          {"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}}};
}

Outputs LogisticRegression::inputs() const { return {{"columns", columns, {0, features}}, {"labels", labels, rows}}; }

Verdict LogisticRegression::check(const Outputs& outputs, Reduce& reduce) const {
  return oracle_->judge(outputs, reduce);
}

}  // namespace league
