// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/knn/knn.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/knn/oracle.hpp"

namespace league {
namespace {

/// Pixels of every type are converted to floats; products are exact.
const std::map<Dtype, std::string> units{{Dtype::i32, "f32"}, {Dtype::u8, "f32"}};

/// Matrix units take pixels of every type as bytes.
const std::map<Dtype, std::string> byte_units{
    {Dtype::f32, "u8 tensor"}, {Dtype::i32, "u8 tensor"}, {Dtype::u8, "u8 tensor"}};
const char* const plain = "matrix units need kokkos_specialised, cuda or hip; compare fused";
const char* const alone = "threads of a host share no scratch; compare direct";
const char* const large = "needs more than 48 KB of shared memory, which Kokkos does not give a team; compare mma";
const char* const hopper = "wgmma is an instruction of NVIDIA's Hopper, inline PTX in CUDA only";

/// A lower rung of the ladder, of kernels for GPUs.
Method rung(const std::string& name, const std::string& description) {
  const std::string why = "a step towards the GPU kernels: see direct";
  return {.name = name,
          .description = description,
          .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
          .not_expressible = {{"serial", why}, {"openmp", why}},
          .naive = true,
          .units = units};
}

const RegisterAlgorithm registered{Algorithm{
    .name = Knn::algorithm,
    .description = "classification by the votes of the k nearest training rows",
    .parameters = with_dataset_sizes(
        {{.name = "k", .default_value = "3", .min = 1, .max = 64, .description = "number of neighbours that vote"},
         {.name = "votes",
          .kind = Parameter::Kind::choice,
          .default_value = "eps",
          .choices = {"eps", "inverse", "uniform"},
          .description = "weight of a vote at distance d: 1 / (d + 1e-5); 1 / d, or 1 and 0 where some d is 0; 1"}}),
    .methods = {{.name = "direct",
                 .description = "sums of squared differences into a matrix, then selection",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .units = units},
                {.name = "per_query",
                 .description = "one kernel, a team per query and chunk of rows: differences, selection, votes",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .not_expressible = {{"serial", alone}, {"openmp", alone}},
                 .units = units},
                {.name = "fused",
                 .description = "tiles of products and norms, k-best lists kept in the kernel, no matrix",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .units = units},
                {.name = "flat",
                 .description = "a range of queries, mapped by Kokkos: a list of the nearest rows for each",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .not_expressible = only_kokkos("a policy of Kokkos; compare direct"),
                 .units = units},
                {.name = "mma",
                 .description = "as fused, products of bytes by matrix units",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .not_expressible = {{"serial", plain}, {"openmp", plain}, {"kokkos", plain}},
                 .units = byte_units},
                {.name = "mma_large",
                 .description = "as mma, with more stages than 48 KB of shared memory hold",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .not_expressible = {{"serial", plain}, {"openmp", plain}, {"kokkos", large}},
                 .units = byte_units},
                {.name = "wgmma",
                 .description = "as mma, products by the warpgroup units of Hopper",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .not_expressible = {{"serial", hopper}, {"openmp", hopper}, {"kokkos", hopper}, {"hip", hopper}},
                 .units = byte_units},
                {.name = "gram",
                 .description = "the library's matrix product, then selection",
                 .dtypes = {Dtype::f32, Dtype::i32, Dtype::u8},
                 .libraries = {"cublas", "rocblas", "kokkos_kernels"},
                 .own_models = false,
                 .units = units},
                rung("query_per_thread", "a query per thread, which keeps a sorted list of the nearest"),
                rung("pair_per_thread", "distances into a matrix, a pair per thread; a thread per query selects"),
                rung("team_select", "the same, a team per query selects"),
                rung("coalesced", "the same, with transposed training rows: loads are coalesced"),
                rung("scratch_tile", "the same, a pair per thread of a 16 x 16 tile, rows through team scratch")},
    .needs_dataset = true,
    .make = [](const Making& making) { return std::make_unique<Knn>(making); },
    .edge_cases = {{{"train", "1"}, {"test", "1"}, {"features", "1"}, {"k", "1"}},
                   {{"train", "9"}, {"test", "2"}, {"features", "3"}, {"k", "9"}, {"votes", "inverse"}},
                   {{"train", "300"}, {"test", "131"}, {"features", "33"}, {"k", "3"}},
                   {{"train", "517"}, {"test", "65"}, {"features", "17"}, {"k", "64"}, {"votes", "uniform"}}}}};

constexpr std::int64_t max_rows =
    (std::int64_t{1} << 31) - 1024;  ///< indices of training rows, padding included, are 32-bit

const Dataset& dataset_of(const Making& making) {
  if (!making.dataset) throw std::logic_error("knn is made from a dataset");
  return *making.dataset;
}

knn::Votes votes_from(const std::string& name) {
  if (name == "inverse") return knn::Votes::inverse;
  return name == "uniform" ? knn::Votes::uniform : knn::Votes::eps;
}

/// Some rows converted to another type; the array itself if nothing changes.
HostArray rows_as(Dtype dtype, const HostArray& array, Range rows, std::pmr::memory_resource& memory) {
  if (array.dtype() == dtype && rows.size() == array.rows()) return array;
  std::vector<std::int64_t> shape = array.shape();
  shape.front() = rows.size();
  HostArray some(memory, dtype, shape);
  with_type<float, std::int32_t, std::uint8_t>(array.dtype(), [&]<class From>() {
    with_type<float, std::int32_t, std::uint8_t>(dtype, [&]<class To>() {
      std::ranges::transform(array.values<const From>(rows.begin, rows.end), some.values<To>().begin(),
                             [](From value) { return static_cast<To>(value); });
    });
  });
  return some;
}

bool pixels(const HostArray& array) {
  if (array.dtype() != Dtype::f32) return true;
  return std::ranges::all_of(array.values<const float>(),
                             [](float value) { return value >= 0 && value <= 255 && std::floor(value) == value; });
}

}  // namespace

Knn::Knn(const Making& making)
    : Problem(within_bounds(making, algorithm)),
      k(static_cast<int>(making.parameters.integer("k"))),
      votes(votes_from(making.parameters.choice("votes"))),
      data_(dataset_of(making)) {
  require(data_.train.rows() > 0, "train: there must be at least one training row");
  require(data_.test.rows() > 0, "test: there must be at least one row to classify");
  require(data_.test.rows() <= max_rows, "test: at most " + std::to_string(max_rows) + " rows to classify");
  require(data_.train.rows() <= max_rows, "train: at most " + std::to_string(max_rows) + " training rows");
  features = data_.train.row_size();
  require(features > 0 && features < (1 << 24), "features: from 1 to 16777215 values per row");
  require(data_.test.row_size() == features, "features: training rows have " + std::to_string(features) +
                                                 ", rows to classify " + std::to_string(data_.test.row_size()));
  require(data_.train_labels.rows() == data_.train.rows() && data_.test_labels.rows() == data_.test.rows(),
          "labels: one per row");
  require(k <= data_.train.rows(),
          "k = " + std::to_string(k) + ": there are " + std::to_string(data_.train.rows()) + " training rows");
  require(dtype == Dtype::f32 || features <= exact_features,
          "features: " + std::to_string(features) + " in dtype " + std::string(name(dtype)) +
              ", whose products are exact up to " + std::to_string(exact_features));
  for (const HostArray& array : {data_.train, data_.test})
    require(
        array.dtype() == dtype || array.dtype() == Dtype::u8,
        "dtype " + std::string(name(dtype)) + ": the features of this dataset are " + std::string(name(array.dtype())));
  exact = features <= exact_features && pixels(data_.train) && pixels(data_.test);
  oracle_ = std::make_unique<knn::Oracle>(*this);
}

Knn::~Knn() = default;

Cost Knn::cost() const {
  const auto n = static_cast<double>(data_.train.rows()), m = static_cast<double>(extent()),
             d = static_cast<double>(features);
  const double written = m * (4 + 16 * k);
  return {.bytes = (n + m) * d * static_cast<double>(size_bytes(dtype)) + 4 * n + written,
          .operations = 2 * n * m * d,
          .best_unit = exact ? "u8 tensor" : "f16 tensor",
          .written_bytes = written};
}

/// Numbers that are no pixels are rounded to f16, to choose candidates.
std::string Knn::method_unit(std::string_view method) const {
  const bool by_units = method == "mma" || method == "mma_large" || method == "wgmma";
  return by_units && !exact ? "f16 tensor" : "";
}

/// `direct`, `gram` and most naive methods write a matrix of distances or products, 4 bytes per value, and read it for
/// the selection.
double Knn::method_bytes(std::string_view method) const {
  static constexpr std::array with_matrix{"direct",      "gram",      "pair_per_thread",
                                          "team_select", "coalesced", "scratch_tile"};
  const double pairs = static_cast<double>(data_.train.rows()) * static_cast<double>(extent());
  return cost().bytes + (std::ranges::find(with_matrix, method) != with_matrix.end() ? 2 * 4 * pairs : 0);
}

void Knn::make_inputs(Range local, std::pmr::memory_resource& memory) {
  const Range all{0, data_.train.rows()};
  rows = local;
  train = rows_as(dtype, data_.train, all, memory);
  train_labels = rows_as(Dtype::i32, data_.train_labels, all, memory);
  test = rows_as(dtype, data_.test, rows, memory);
  test_labels = rows_as(Dtype::i32, data_.test_labels, rows, memory);
}

Outputs Knn::make_outputs(Range local, std::pmr::memory_resource& memory) const {
  return {{"labels", HostArray(memory, Dtype::i32, {local.size()}), local},
          {"neighbours", HostArray(memory, Dtype::i64, {local.size(), k}), local},
          {"neighbour_distances", HostArray(memory, Dtype::f64, {local.size(), k}), local}};
}

Outputs Knn::inputs() const {
  const Range all{0, train.rows()};
  return {{"train", train, all},
          {"train_labels", train_labels, all},
          {"test", test, rows},
          {"test_labels", test_labels, rows}};
}

Verdict Knn::check(const Outputs& outputs, Reduce& /*reduce*/) const { return knn::judge(*this, *oracle_, outputs); }

}  // namespace league
