// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/softmax_regression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "algorithms/contract/labels.hpp"
#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/softmax_regression/common/dual_limits.hpp"
#include "algorithms/softmax_regression/oracle.hpp"
#include "backends/launch.hpp"

namespace league {
namespace {

const char* const one_team = "its steps are those of one team of a GPU; compare fused";
const char* const alone = "one region for all steps gains nothing on a host; compare fused";
const char* const registers = "what a lane of Kokkos holds in registers ends with its range, before the step's barrier";
const char* const plain = "matrix units need kokkos_specialised, cuda or hip; compare fused";

const RegisterAlgorithm registered{Algorithm{
    .name = SoftmaxRegression::algorithm,
    .description = "classification by a linear function for each class, fitted by gradient descent",
    .parameters = with_dataset_sizes(
        {{.name = "steps", .default_value = "100", .min = 1, .max = 1'000'000, .description = "steps"},
         {.name = "batch",
          .default_value = "0",
          .min = 0,
          .description = "rows per step, batches in order; 0: all rows"},
         {.name = "learning_rate",
          .kind = Parameter::Kind::real,
          .default_value = "0.5",
          .interval = {.min = 0, .max = 1e6, .open_min = true},
          .description = "factor of the gradient in a step"},
         {.name = "l2",
          .kind = Parameter::Kind::real,
          .default_value = "0",
          .interval = {.min = 0, .max = 1e6},
          .description = "weight of the penalty |W|^2 / 2"}}),
    .methods = {{.name = "gemm",
                 .description = "the library's products for logits and gradient, and a softmax between",
                 .dtypes = {Dtype::f32},
                 .libraries = {"cublas", "rocblas", "kokkos_kernels"},
                 .own_models = false},
                {.name = "fused",
                 .description = "logits, softmax and gradient of a tile of rows together",
                 .dtypes = {Dtype::f32, Dtype::u8},
                 .executions = recordable,
                 .units = {{Dtype::u8, "f32"}}},
                {.name = "flat",
                 .description = "a range of rows, then one of parameters, each a loop over the rows, mapped by Kokkos",
                 .dtypes = {Dtype::f32, Dtype::u8},
                 .not_expressible = only_kokkos("a policy of Kokkos; compare fused"),
                 .units = {{Dtype::u8, "f32"}}},
                {.name = "mma",
                 .description = "as fused, both products by matrix units: pixels as bytes, other numbers as floats",
                 .dtypes = {Dtype::f32, Dtype::u8},
                 .executions = recordable,
                 .not_expressible = {{"serial", plain}, {"openmp", plain}, {"kokkos", plain}},
                 .units = {{Dtype::f32, "u8 tensor"}, {Dtype::u8, "u8 tensor"}}},
                {.name = "persistent",
                 .description = "for few features: one kernel for all steps, gradients in registers, on one device",
                 .dtypes = {Dtype::f32, Dtype::u8},
                 .not_expressible = {{"serial", alone}, {"openmp", alone}, {"kokkos", registers}},
                 .units = {{Dtype::u8, "f32"}}},
                {.name = "dual",
                 .description = "for few rows: steps on the products of all rows, in double, one kernel for all steps",
                 .dtypes = {Dtype::f32, Dtype::u8},
                 .not_expressible = {{"serial", one_team}, {"openmp", one_team}},
                 .units = {{Dtype::f32, "f64"}, {Dtype::u8, "f64"}}}},
    .needs_dataset = true,
    .make = [](const Making& making) { return std::make_unique<SoftmaxRegression>(making); },
    .edge_cases = {
        {{"train", "1"}, {"test", "1"}, {"features", "1"}, {"steps", "2"}},
        {{"train", "2"}, {"test", "1"}, {"features", "15"}, {"steps", "3"}, {"learning_rate", "0.1"}},
        {{"train", "301"}, {"test", "3"}, {"features", "33"}, {"steps", "7"}, {"batch", "128"}, {"l2", "0.01"}},
        {{"train", "67"}, {"test", "3"}, {"features", "1100"}, {"steps", "2"}, {"learning_rate", "0.001"}}}}};

const Dataset& dataset_of(const Making& making) {
  if (!making.dataset) throw std::logic_error("softmax_regression is made from a dataset");
  return *making.dataset;
}

void require_numbers(const std::string& part, const HostArray& array) {
  if (array.dtype() != Dtype::f32) return;
  const auto values = array.values<const float>();
  const auto wrong = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  if (wrong != values.end())
    throw std::invalid_argument(part + " row " + std::to_string((wrong - values.begin()) / array.row_size()) +
                                " has a feature that is not a finite number");
}

/// Rows [rows x pitch] of `from` [rows x features], each followed by `one` and zeros.
template <class From, class To>
void store_rows(const HostArray& from, Range rows, HostArray& to, To one) {
  const std::int64_t features = from.row_size(), pitch = to.row_size();
  const From* source = from.values<const From>(rows.begin, rows.end).data();
  To* target = to.values<To>().data();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows.size(); ++row) {
    To* out = target + row * pitch;
    for (std::int64_t f = 0; f < features; ++f) out[f] = static_cast<To>(source[row * features + f]);
    out[features] = one;
    for (std::int64_t f = features + 1; f < pitch; ++f) out[f] = To{0};
  }
}

}  // namespace

SoftmaxRegression::SoftmaxRegression(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      data(dataset_of(making)),
      steps(making.parameters.integer("steps")),
      batch(making.parameters.integer("batch")),
      learning_rate(making.parameters.real("learning_rate")),
      l2(making.parameters.real("l2")),
      classes(data.classes),
      features(data.train.row_size()),
      scale(pixels() ? 1.0 / 255.0 : 1.0),
      pitch(ceil_div<std::int64_t>(features + 1, pitch_step) * pitch_step) {
  require(extent() > 0, "train: there must be at least one training row");
  require(features >= 1 && features <= max_features,
          "features: " + std::to_string(features) + " values per row; from 1 to " + std::to_string(max_features));
  require(classes >= 2 && classes <= max_classes,
          "classes: " + std::to_string(classes) + "; from 2 to " + std::to_string(max_classes));
  require(data.test.rows() == 0 || data.test.row_size() == features,
          "features: training rows have " + std::to_string(features) + ", rows to classify " +
              std::to_string(data.test.row_size()));
  require(data.train.dtype() == Dtype::u8 || dtype == Dtype::f32,
          "dtype " + std::string(name(dtype)) + ": the features of this dataset are f32");
  if (batch == 0 || batch > extent()) batch = extent();
  oracle_ = std::make_unique<softmax_regression::Oracle>(*this);
}

SoftmaxRegression::~SoftmaxRegression() = default;

void SoftmaxRegression::make_inputs(Range local, std::pmr::memory_resource& memory) {
  require_labels("training", "row", data.train_labels, data.train.rows(), classes);
  require_labels("test", "row", data.test_labels, data.test.rows(), classes);
  require_numbers("training", data.train);
  require_numbers("test", data.test);
  rows = local;
  stored = HostArray(memory, dtype, {rows.size(), pitch});
  if (dtype == Dtype::u8)
    store_rows<std::uint8_t, std::uint8_t>(data.train, rows, stored, 255);
  else if (data.train.dtype() == Dtype::u8)
    store_rows<std::uint8_t, float>(data.train, rows, stored, 255);
  else
    store_rows<float, float>(data.train, rows, stored, 1);
}

/// Rows of all steps together.
double SoftmaxRegression::rows_taken() const {
  const std::int64_t n = extent(), batches = ceil_div(n, batch);
  return static_cast<double>(steps / batches) * static_cast<double>(n) +
         static_cast<double>(steps % batches) * static_cast<double>(batch);
}

/// Rows are read once: what of them can stay on a device from step to step depends on the device. A step multiplies
/// each value of its batch with the weights and with the residuals; few rows may be multiplied with each other, if that
/// is less. One exponential of a row is that of 0.
Cost SoftmaxRegression::cost() const {
  const auto row = static_cast<double>(features * static_cast<std::int64_t>(size_bytes(dtype)) + 4);
  return {.bytes = static_cast<double>(std::min<std::int64_t>(extent(), steps * batch)) * row,
          .operations = fewest(step_products()),
          .best_unit = pixels() ? "u8 tensor" : "f16 tensor",
          .other_operations = {{"exp", rows_taken() * (classes - 1)}}};
}

/// Operations of steps on the rows.
double SoftmaxRegression::step_products() const {
  return 4 * rows_taken() * static_cast<double>((features + 1) * classes);
}

/// Operations of steps on the products of all rows.
double SoftmaxRegression::dual_products() const {
  const auto rows_once = static_cast<double>(extent()), d = static_cast<double>(features);
  return rows_once * (rows_once * d + 2 * (rows_taken() + d + 1) * classes);
}

/// These operations, or those of `dual` if they are fewer.
double SoftmaxRegression::fewest(double operations) const {
  return softmax_regression::DualLimits::fits(extent(), classes) ? std::min(operations, dual_products()) : operations;
}

/// Matrix units take weights and residuals of f32 as three numbers of 8 bits, or three products of tf32 or f16.
double SoftmaxRegression::method_operations(std::string_view method) const {
  if (method == "mma") return 3 * step_products();
  if (method == "dual") return dual_products();
  return method.empty() ? fewest(3 * step_products()) : fewest(step_products());
}

std::string SoftmaxRegression::method_unit(std::string_view method) const {
  return method == "mma" && !pixels() ? "tf32 tensor" : "";
}

/// `gemm` reads the rows twice, `flat` at least once; logits of `gemm` are written, read, written as p - y and read
/// again. `mma` packs the rows once, pixels as bytes, and reads that twice per step. `dual` reads them twice in all,
/// and in each step their products with those of its batch.
double SoftmaxRegression::method_bytes(std::string_view method) const {
  const auto row = static_cast<double>(features * static_cast<std::int64_t>(size_bytes(dtype)));
  const double packed = pixels() ? static_cast<double>(features) : row;
  if (method == "mma") return static_cast<double>(extent()) * (row + packed) + rows_taken() * (2 * packed + 4);
  if (method == "dual")
    return static_cast<double>(extent()) * (2 * row + 4 + 8 * (static_cast<double>(extent()) + rows_taken()));
  static constexpr std::array own{"flat", "fused", "persistent", "gemm"};
  const bool each_step = std::ranges::find(own, method) != own.end();
  return each_step ? rows_taken() * (row + 4 + (method == "gemm" ? row + 16.0 * classes : 0)) : cost().bytes;
}

Outputs SoftmaxRegression::make_outputs(Range /*local*/, std::pmr::memory_resource& memory) const {
  return {{"theta", HostArray(memory, Dtype::f64, {features + 1, classes}), {0, features + 1}},
          {"loss", HostArray(memory, Dtype::f64, {steps}), {0, steps}},
          {"steps", HostArray(memory, Dtype::i64, {1}), {0, 1}}};
}

Outputs SoftmaxRegression::inputs() const {
  const Range train{0, data.train.rows()}, test{0, data.test.rows()};
  return {{"train", data.train, train},
          {"train_labels", data.train_labels, train},
          {"test", data.test, test},
          {"test_labels", data.test_labels, test}};
}

Verdict SoftmaxRegression::check(const Outputs& outputs, Reduce& reduce) const {
  return softmax_regression::judge(*this, *oracle_, outputs, reduce);
}

}  // namespace league
