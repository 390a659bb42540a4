// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/knn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "algorithms/knn/knn_oracle.hpp"

namespace league {
namespace {

/// Pixels of every type are widened to floats, in which their products are exact.
const std::map<Dtype, std::string> units{{Dtype::i32, "f32"}, {Dtype::u8, "f32"}};

const RegisterAlgorithm registered{Algorithm{
    .name = Knn::algorithm,
    .description = "classification by the votes of the k nearest training rows",
    .parameters = with_dataset_sizes(
        {{.name = "k", .standard = "3", .least = 1, .most = 64, .description = "neighbours that vote"},
         {.name = "votes",
          .kind = Parameter::Kind::choice,
          .standard = "eps",
          .choices = {"eps", "inverse", "uniform"},
          .description = "what a vote at distance d counts: 1 / (d + 1e-5); 1 / d, or 1 and 0 where some d is 0; 1"}}),
    .methods = {{.name = "direct",
                 .description = "sums of squared differences into a matrix, then selection",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .units = units},
                {.name = "fused",
                 .description = "tiles of products and norms, the k best on the way, no matrix",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .units = units},
                {.name = "gram",
                 .description = "the library's matrix product, then selection",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .libraries = {"cublas", "kokkos_kernels"},
                 .own_models = false,
                 .units = units}},
    .needs_dataset = true,
    .make = [](const Making& making) { return std::make_unique<Knn>(making); }}};

constexpr std::int64_t most_rows =
    (std::int64_t{1} << 31) - 1024;  ///< indices of training rows, padding included, are 32-bit

const Dataset& dataset_of(const Making& making) {
  if (!making.dataset) throw std::logic_error("knn is made from a dataset");
  return *making.dataset;
}

knn::Votes votes_from(const std::string& name) {
  if (name == "inverse") return knn::Votes::inverse;
  return name == "uniform" ? knn::Votes::uniform : knn::Votes::eps;
}

template <class From, class To>
void convert(std::span<const From> from, std::span<To> to) {
  std::ranges::transform(from, to.begin(), [](From value) { return static_cast<To>(value); });
}

/// The features in the problem's type; the dataset's own memory where that is the same.
HostArray features_as(Dtype dtype, const HostArray& array, std::pmr::memory_resource& memory) {
  if (array.dtype() == dtype) return array;
  require(array.dtype() == Dtype::u8, "dtype " + std::string(name(dtype)) + ": the features of this dataset are " +
                                          std::string(name(array.dtype())));
  HostArray converted(memory, dtype, array.shape());
  if (dtype == Dtype::f32) convert(array.values<const std::uint8_t>(), converted.values<float>());
  if (dtype == Dtype::i32) convert(array.values<const std::uint8_t>(), converted.values<std::int32_t>());
  return converted;
}

bool pixels(const HostArray& array) {
  if (array.dtype() != Dtype::f32) return true;
  return std::ranges::all_of(array.values<const float>(),
                             [](float value) { return value >= 0 && value <= 255 && std::floor(value) == value; });
}

}  // namespace

Knn::Knn(const Making& making)
    : dtype(making.dtype),
      k(static_cast<int>(making.parameters.integer("k"))),
      votes(votes_from(making.parameters.choice("votes"))) {
  const Dataset& data = dataset_of(making);
  require(data.train.rows() > 0, "train: there must be at least one training row");
  require(data.test.rows() > 0, "test: there must be at least one row to classify");
  require(data.test.rows() <= most_rows, "test: at most " + std::to_string(most_rows) + " rows to classify");
  require(data.train.rows() <= most_rows, "train: at most " + std::to_string(most_rows) + " training rows");
  features = data.train.row_size();
  require(features > 0 && features < (1 << 24), "features: from 1 to 16777215 values a row");
  require(data.test.row_size() == features, "features: training rows have " + std::to_string(features) +
                                                ", rows to classify " + std::to_string(data.test.row_size()));
  require(data.train_labels.rows() == data.train.rows() && data.test_labels.rows() == data.test.rows(),
          "labels: one a row");
  require(k >= 1 && k <= 64, "k = " + std::to_string(k) + ": from 1 to 64");
  require(k <= data.train.rows(),
          "k = " + std::to_string(k) + ": there are " + std::to_string(data.train.rows()) + " training rows");
  require(dtype == Dtype::f32 || features <= exact_features,
          "features: " + std::to_string(features) + " in dtype " + std::string(name(dtype)) +
              ", whose products are exact up to " + std::to_string(exact_features));
  train = features_as(dtype, data.train, making.memory);
  test = features_as(dtype, data.test, making.memory);
  train_labels = data.train_labels;
  test_labels = data.test_labels;
  exact = features <= exact_features && (data.train.dtype() == Dtype::u8 || (pixels(train) && pixels(test)));
  oracle_ = std::make_unique<knn::Oracle>(*this);
}

Knn::~Knn() = default;

Cost Knn::cost() const {
  const auto n = static_cast<double>(train.rows()), m = static_cast<double>(test.rows()),
             d = static_cast<double>(features);
  return {(n + m) * d * static_cast<double>(size_bytes(dtype)) + 4 * n + m * (4 + 16 * k), 2 * n * m * d,
          exact ? "u8 tensor" : ""};
}

Outputs Knn::make_outputs(std::pmr::memory_resource& memory) const {
  const Range rows{0, extent()};
  return {{"labels", HostArray(memory, Dtype::i32, {extent()}), rows},
          {"neighbours", HostArray(memory, Dtype::i64, {extent(), k}), rows},
          {"neighbour_distances", HostArray(memory, Dtype::f64, {extent(), k}), rows}};
}

Outputs Knn::inputs() const {
  const Range all{0, train.rows()}, rows{0, extent()};
  return {{"train", train, all},
          {"train_labels", train_labels, all},
          {"test", test, rows},
          {"test_labels", test_labels, rows}};
}

Verdict Knn::check(const Outputs& outputs) const { return knn::judge(*this, *oracle_, outputs); }

}  // namespace league
