// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/logistic_regression/logistic_regression.hpp"

#include <cmath>
#include <stdexcept>

#include "algorithms/judge.hpp"
#include "algorithms/logistic_regression/logistic_regression_oracle.hpp"

namespace league {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 40, most_steps = 100'000;

const std::vector<Dtype> reals{Dtype::f32, Dtype::f64};

const RegisterAlgorithm registered{Algorithm{
    .name = LogisticRegression::algorithm,
    .description = "binary logistic regression: gradient descent, Newton",
    .parameters =
        {{.name = "rows", .kind = Parameter::Kind::size, .standard = "10000", .most = most_rows, .description = "rows"},
         {.name = "features",
          .kind = Parameter::Kind::size,
          .standard = "2",
          .most = LogisticRegression::most_features,
          .description = "beside the intercept"},
         {.name = "data",
          .kind = Parameter::Kind::choice,
          .standard = "generated",
          .choices = {"generated", "a2", "a3", "a4"},
          .description = "a2, a3, a4: the generators of the studies, 2 features"},
         {.name = "steps", .standard = "100", .most = most_steps, .description = "at most"},
         {.name = "learning_rate",
          .kind = Parameter::Kind::real,
          .standard = "0.01",
          .least = 0,
          .description = "of gradient descent; `newton` takes none"},
         {.name = "l2",
          .kind = Parameter::Kind::real,
          .standard = "0",
          .least = 0,
          .description = "penalty l2 / 2 |theta|^2, not of the intercept"},
         {.name = "tolerance",
          .kind = Parameter::Kind::real,
          .standard = "0",
          .least = 0,
          .description = "a step whose largest gradient component is below it is the last; 0: none"}},
    .methods = {{.name = "fused",
                 .description = "each row read once a step: logit, loss and gradient together",
                 .dtypes = reals},
                {.name = "graph",
                 .description = "`fused`, its steps recorded into a graph",
                 .dtypes = reals,
                 .not_expressible = {{"serial", no_launches}, {"openmp", no_launches}}},
                {.name = "unfused",
                 .description = "as libraries do it: product, loss, product, a pass each",
                 .dtypes = reals,
                 .libraries = {"cublas", "kokkos_kernels"}},
                {.name = "newton",
                 .description = "damped Newton steps, the Hessian added in the same pass",
                 .dtypes = reals,
                 .problem = "newton"}},
    .make = [](const Making& making) { return std::make_unique<LogisticRegression>(making); }}};

std::int64_t in_range(const Making& making, const char* name, std::int64_t most) {
  const std::int64_t value = making.parameters.integer(name);
  if (value < 1 || value > most)
    throw std::invalid_argument(std::string(name) + " = " + std::to_string(value) + ": takes 1 to " +
                                std::to_string(most));
  return value;
}

double finite(const Making& making, const char* name, bool zero) {
  const double value = making.parameters.real(name);
  if (!std::isfinite(value) || value < 0 || (value == 0 && !zero))
    throw std::invalid_argument(std::string(name) + " = " + making.parameters.choice(name) +
                                ": takes a finite number " + (zero ? "from 0 on" : "above 0"));
  return value;
}

Dtype real_type(Dtype dtype) {
  if (dtype != Dtype::f32 && dtype != Dtype::f64)
    throw std::invalid_argument("dtype " + std::string(name(dtype)) + ": takes f32 and f64");
  return dtype;
}

/// The first row that has something wrong in it, by `is_wrong(row)`; `rows` if none has.
template <class IsWrong>
std::int64_t first_wrong(std::int64_t rows, const IsWrong& is_wrong) {
  std::int64_t first = rows;
#pragma omp parallel for schedule(static) reduction(min : first)
  for (std::int64_t row = 0; row < rows; ++row)
    if (is_wrong(static_cast<std::size_t>(row))) first = std::min(first, row);
  return first;
}

template <class T>
void require_finite(std::int64_t rows, int features, std::span<const T> columns) {
  for (int feature = 0; feature < features; ++feature) {
    const auto column = columns.subspan(static_cast<std::size_t>(feature * rows), static_cast<std::size_t>(rows));
    const std::int64_t row = first_wrong(rows, [column](std::size_t i) { return !std::isfinite(column[i]); });
    if (row < rows)
      throw std::invalid_argument("row " + std::to_string(row) + ", feature " + std::to_string(feature) + " is " +
                                  std::to_string(column[static_cast<std::size_t>(row)]) + ": takes finite numbers");
  }
}

logistic::Data generated(const Making& making) {
  return logistic::generate(making.parameters.choice("data"), in_range(making, "rows", most_rows),
                            in_range(making, "features", LogisticRegression::most_features), real_type(making.dtype),
                            making.seed, making.memory);
}

}  // namespace

LogisticRegression::LogisticRegression(const Making& making) : LogisticRegression(making, {}, {}) {}

LogisticRegression::LogisticRegression(const Making& making, HostArray given_columns, HostArray given_labels)
    : rows(0),
      features(0),
      dtype(real_type(making.dtype)),
      newton(making.problem == "newton"),
      steps(in_range(making, "steps", most_steps)),
      learning_rate(finite(making, "learning_rate", false)),
      l2(finite(making, "l2", true)),
      tolerance(finite(making, "tolerance", true)),
      columns(std::move(given_columns)),
      labels(std::move(given_labels)) {
  if (columns.size() == 0)
    std::tie(columns, labels) = [&] {
      const logistic::Data data = generated(making);
      return std::pair(data.columns, data.labels);
    }();
  if (columns.rows() < 1 || columns.rows() > most_features)
    throw std::invalid_argument("features = " + std::to_string(columns.rows()) + ": takes 1 to " +
                                std::to_string(most_features));
  features = static_cast<int>(columns.rows());
  rows = labels.rows();
  if (columns.row_size() != rows)
    throw std::invalid_argument(std::to_string(rows) + " labels for " + std::to_string(columns.row_size()) + " rows");
  const auto classes = labels.values<const std::uint8_t>();
  if (const std::int64_t row = first_wrong(rows, [classes](std::size_t i) { return classes[i] > 1; }); row < rows)
    throw std::invalid_argument("row " + std::to_string(row) + " has label " +
                                std::to_string(classes[static_cast<std::size_t>(row)]) + ": takes 0 and 1");
  if (dtype == Dtype::f64)
    require_finite(rows, features, columns.values<const double>());
  else
    require_finite(rows, features, columns.values<const float>());
  oracle_ = std::make_unique<logistic::Oracle>(*this);
}

LogisticRegression::~LogisticRegression() = default;

Cost LogisticRegression::cost() const {
  const double entries = features + 1;
  const double per_row = 4.0 * features + 20 + (newton ? entries * (entries + 1) : 0);
  const double passes = static_cast<double>(rows) * static_cast<double>(tolerance > 0 ? oracle_->steps() : steps);
  return {passes * (features * static_cast<double>(size_bytes(dtype)) + 1), passes * per_row};
}

Outputs LogisticRegression::make_outputs(std::pmr::memory_resource& memory) const {
  return {{"theta", HostArray(memory, Dtype::f64, {features + 1}), {0, features + 1}},
          {"loss", HostArray(memory, Dtype::f64, {steps}), {0, steps}},
          {"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}}};
}

Outputs LogisticRegression::inputs() const {
  return {{"columns", columns, {0, features}}, {"labels", labels, {0, rows}}};
}

Verdict LogisticRegression::check(const Outputs& outputs) const { return oracle_->judge(outputs); }

}  // namespace league
