// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/distance_matrix.hpp"

#include <cmath>

#include "algorithms/contract/only_kokkos.hpp"
#include "algorithms/contract/with_type.hpp"
#include "algorithms/distance_matrix/oracle.hpp"
#include "algorithms/oracle/generate.hpp"
#include "algorithms/oracle/judge.hpp"

namespace league::distance_matrix {
namespace {

const std::vector<Dtype> floats{Dtype::f32, Dtype::f64};

const std::map<Dtype, std::string> units{{Dtype::f32, "f16 tensor"}, {Dtype::f64, "f64 tensor"}};

const char* const plain = "matrix units need kokkos_specialised, cuda or hip; compare product";
const char* const alone = "a team of one thread has no coordinates to share; compare direct";
const char* const hopper = "wgmma is an instruction of NVIDIA's Hopper, inline PTX in CUDA only";

/// A lower rung of the ladder, of kernels for GPUs.
Method rung(const std::string& name, const std::string& description) {
  const std::string why = "a step towards the GPU kernels: see direct";
  return {.name = name,
          .description = description,
          .dtypes = floats,
          .not_expressible = {{"serial", why}, {"openmp", why}},
          .naive = true};
}

const RegisterAlgorithm registered{Algorithm{
    .name = DistanceMatrix::algorithm,
    .description = "distances between all pairs of n points",
    .parameters = {{.name = "n", .kind = Parameter::Kind::size, .default_value = "4096", .description = "points"},
                   {.name = "dimension",
                    .kind = Parameter::Kind::size,
                    .default_value = "3",
                    .description = "coordinates of a point"},
                   {.name = "metric",
                    .kind = Parameter::Kind::choice,
                    .default_value = "euclidean",
                    .choices = {"euclidean", "squared"},
                    .description = "the distance, or its square"}},
    .methods = {{.name = "direct", .description = "sum of squared differences, from registers", .dtypes = floats},
                {.name = "tiled", .description = "the same in tiles, through team scratch", .dtypes = floats},
                {.name = "symmetric",
                 .description = "tiled, for one half of the matrix, mirrored; one device, whole matrix in memory",
                 .dtypes = floats},
                {.name = "split_k",
                 .description = "direct with a team per tile of pairs, its threads share the coordinates",
                 .dtypes = floats,
                 .not_expressible = {{"serial", alone}, {"openmp", alone}}},
                {.name = "product", .description = "|x|^2 + |y|^2 - 2 x.y by our own product tile", .dtypes = floats},
                {.name = "flat",
                 .description = "a range of pairs in two dimensions, mapped by Kokkos",
                 .dtypes = floats,
                 .not_expressible = only_kokkos("a policy of Kokkos; compare direct")},
                {.name = "mma",
                 .description = "|x|^2 + |y|^2 - 2 x.y by matrix units, in f32 as three products of f16",
                 .dtypes = floats,
                 .not_expressible = {{"serial", plain}, {"openmp", plain}, {"kokkos", plain}},
                 .units = units},
                {.name = "mma_symmetric",
                 .description = "mma, for one half of the matrix, mirrored; one device, whole matrix in memory",
                 .dtypes = floats,
                 .not_expressible = {{"serial", plain}, {"openmp", plain}, {"kokkos", plain}},
                 .units = units},
                {.name = "wgmma",
                 .description = "as mma, by the warpgroup units of Hopper",
                 .dtypes = {Dtype::f32},
                 .not_expressible = {{"serial", hopper}, {"openmp", hopper}, {"kokkos", hopper}, {"hip", hopper}},
                 .units = units},
                {.name = "wgmma_symmetric",
                 .description = "wgmma, for one half of the matrix, mirrored; one device, whole matrix in memory",
                 .dtypes = {Dtype::f32},
                 .not_expressible = {{"serial", hopper}, {"openmp", hopper}, {"kokkos", hopper}, {"hip", hopper}},
                 .units = units},
                {.name = "gram",
                 .description = "|x|^2 + |y|^2 - 2 x.y by a library's product (kokkos_kernels: its own, no TPL)",
                 .dtypes = floats,
                 .libraries = {"cublas", "rocblas", "kokkos_kernels"},
                 .own_models = false},
                rung("pair_per_team", "a pair of points per team of one thread"),
                rung("pair_per_thread", "a pair per thread, neighbouring threads down a column"),
                rung("coalesced_stores", "a pair per thread, neighbouring threads along a row"),
                rung("coalesced", "the same from transposed points: loads are coalesced too"),
                rung("scratch_tile", "a pair per thread of a 16 x 16 tile, points through team scratch")},
    .make = [](const Making& making) { return std::make_unique<DistanceMatrix>(making); },
    .edge_cases = {{{"n", "1"}, {"dimension", "3"}},
                   {{"n", "2"}, {"dimension", "1"}},
                   {{"n", "17"}, {"dimension", "3"}, {"metric", "squared"}},
                   {{"n", "129"}, {"dimension", "5"}},
                   {{"n", "131"}, {"dimension", "37"}, {"metric", "squared"}}}}};

/// Error bound of a value: a squared distance, a sum of `dimension` terms, has (dimension + 4) eps times the sum of
/// magnitudes; propagated through the root for distances.
struct Judge {
  double relative;
  double eps;
  bool euclidean;

  [[nodiscard]] Expected operator()(double squared, double magnitude) const {
    const double bound = relative * magnitude;
    if (!euclidean) return {squared, bound};
    const double value = std::sqrt(squared), above = std::sqrt(squared + bound);
    const double below = std::sqrt(std::max(squared - bound, 0.0));
    return {value, std::max(above - value, value - below) + eps * above};
  }
};

/// Result of checking one row.
struct RowVerdict {
  double worst = 0, difference = 0;  ///< largest error over bound; sum of squared errors
  std::string message;
};

std::string place(std::int64_t row, std::int64_t column) {
  return "distances[" + std::to_string(row) + ", " + std::to_string(column) + "]";
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

template <class T>
class Check {
 public:
  Check(const DistanceMatrix& problem, const Oracle& oracle, const Output& output)
      : oracle_(oracle),
        values_(output.values.values<const T>()),
        rows_(output.rows),
        symmetric_(output.form != DistanceMatrix::expanded),
        expanded_(!symmetric_ || output.form == DistanceMatrix::mirrored),
        judge_{static_cast<double>(problem.dimension + 4) * epsilon_of<T>, epsilon_of<T>, problem.euclidean} {}

  [[nodiscard]] Verdict all(Reduce& reduce) const {
    std::vector<RowVerdict> found(static_cast<std::size_t>(rows_.size()));
#pragma omp parallel for schedule(dynamic, 16)
    for (std::int64_t row = rows_.begin; row < rows_.end; ++row) {
      RowVerdict& verdict = found[static_cast<std::size_t>(row - rows_.begin)];
      identity(row, verdict);
      if (const std::int64_t sample = oracle_.sampled(row); sample >= 0) each(row, sample, verdict);
    }
    Verdict verdict{.rows_checked = rows_.size()};
    double difference = 0;
    for (const RowVerdict& row : found) {
      verdict.worst = std::max(verdict.worst, row.worst);
      difference += row.difference;
      if (!row.message.empty()) verdict.fail(row.message);
    }
    if (oracle_.is_complete) {
      const double whole =
          std::sqrt(reduce.sum_of(difference));  // reported by one process only, since figures are added
      verdict.figures.push_back({"frobenius_difference", rows_.begin == 0 ? whole : 0});
    } else {
      verdict.figures.push_back({"rows_checked_by_value", static_cast<double>(oracle_.rows.size())});
    }
    return verdict;
  }

 private:
  [[nodiscard]] double value(std::int64_t row, std::int64_t column) const {
    return static_cast<double>(values_[static_cast<std::size_t>((row - rows_.begin) * oracle_.n + column)]);
  }
  static void fail(RowVerdict& verdict, const std::string& what, double is, const Expected& wanted) {
    if (verdict.message.empty())
      verdict.message =
          what + " is " + number(is) + ", expected " + number(wanted.value) + " within " + number(wanted.bound);
  }
  static void judge(RowVerdict& verdict, const auto& what, double is, const Expected& wanted) {
    const double error = std::abs(is - wanted.value);
    if (!(error <= wanted.bound)) fail(verdict, what(), is, wanted);
    if (error > 0 && wanted.bound > 0) verdict.worst = std::max(verdict.worst, error / wanted.bound);
  }

  /// Checks that the diagonal is 0, and the sum of squares of the row.
  void identity(std::int64_t row, RowVerdict& verdict) const {
    if (value(row, row) != 0) fail(verdict, place(row, row), value(row, row), {0, 0});
    double partial[8] = {}, total = 0;
    for (std::int64_t column = 0; column < oracle_.n; ++column) {
      const double distance = value(row, column);
      partial[column % 8] += judge_.euclidean ? distance * distance : distance;
    }
    for (const double part : partial) total += part;
    const double magnitude = oracle_.row_magnitude(row), wanted = oracle_.row_sum(row);
    const double in_double =
        static_cast<double>(oracle_.n + 2 * oracle_.dimension + 8) * epsilon_of<double> * magnitude;
    const double relative = judge_.relative + (judge_.euclidean ? 4 * judge_.eps : 0);
    judge(verdict, [&] { return "the sum of squares of row " + std::to_string(row); }, total,
          {wanted, relative * (expanded_ ? magnitude : wanted) + in_double});
  }

  /// Checks every value of a sampled row, and for symmetric methods their mirror images.
  void each(std::int64_t row, std::int64_t sample, RowVerdict& verdict) const {
    const double* squared = &oracle_.squared[static_cast<std::size_t>(sample * oracle_.n)];
    const double norm = oracle_.norms[static_cast<std::size_t>(row)];
    for (std::int64_t column = 0; column < oracle_.n; ++column) {
      const double is = value(row, column);
      const Expected wanted =
          judge_(squared[column], expanded_ ? norm + oracle_.norms[static_cast<std::size_t>(column)] : squared[column]);
      judge(verdict, [&] { return place(row, column); }, is, wanted);
      verdict.difference += (is - wanted.value) * (is - wanted.value);
      const bool mirrored = column >= rows_.begin && column < rows_.end && symmetric_;
      if (mirrored && value(column, row) != is) fail(verdict, place(column, row), value(column, row), {is, 0});
    }
  }

  const Oracle& oracle_;
  std::span<const T> values_;
  Range rows_;
  bool symmetric_, expanded_;
  Judge judge_;
};

}  // namespace

DistanceMatrix::DistanceMatrix(const Making& making)
    : Problem(making),
      n(making.parameters.integer("n")),
      dimension(making.parameters.integer("dimension")),
      euclidean(making.parameters.choice("metric") == "euclidean"),
      seed(making.seed) {}

DistanceMatrix::~DistanceMatrix() = default;

/// Reads the points once, writes the matrix once; operations of the expanded form, the fewest known.
/// The matrix is symmetric: a product for each of n (n + 1) / 2 pairs.
Cost DistanceMatrix::cost() const {
  const auto size = static_cast<double>(size_bytes(dtype)), points_count = static_cast<double>(n),
             values = points_count * static_cast<double>(dimension), matrix = points_count * points_count * size;
  return {.bytes = matrix + values * size,
          .operations = (points_count + 1) * values,
          .best_unit = units.at(dtype),
          .written_bytes = matrix};
}

/// All pairs but in `symmetric` and its like; which a library takes in `gram` is its own choice. Matrix units have no
/// f32, whose products are three of f16 halves there: together they have 22 bits.
double DistanceMatrix::method_operations(std::string_view method) const {
  const bool by_units = method.empty() || method.starts_with("mma") || method.starts_with("wgmma");
  const bool half = method.empty() || method.ends_with("symmetric") || method == "gram";
  const auto count = static_cast<double>(n);
  const double pairs = half ? count * (count + 1) / 2 : count * count;
  return 2 * pairs * static_cast<double>(dimension) * (by_units && dtype == Dtype::f32 ? 3 : 1);
}

/// `gram` writes the products, reads them and writes the distances; the others finish in registers.
double DistanceMatrix::method_bytes(std::string_view method) const {
  const double matrix = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(size_bytes(dtype));
  return cost().bytes + (method == "gram" ? 2 * matrix : 0);
}

/// Every process makes all points.
void DistanceMatrix::make_inputs(Range local, std::pmr::memory_resource& memory) {
  rows = local;
  points = HostArray(memory, dtype, {n, dimension});
  with_type<float, double>(dtype, [&]<class T>() {
    const std::span<T> values = points.values<T>();
    fill_random(values, seed, 0);
    for (T& value : values) value += T{0.5};  // exact: the values are on a grid
  });
}

Outputs DistanceMatrix::make_outputs(Range local, std::pmr::memory_resource& memory) const {
  return {{"distances", HostArray(memory, dtype, {local.size(), n}), local}};
}

Outputs DistanceMatrix::inputs() const { return {{"points", points, {0, n}}}; }

Verdict DistanceMatrix::check(const Outputs& outputs, Reduce& reduce) const {
  if (!oracle_) oracle_ = std::make_unique<const Oracle>(*this);
  return with_type<float, double>(dtype,
                                  [&]<class T>() { return Check<T>(*this, *oracle_, outputs.at(0)).all(reduce); });
}

}  // namespace league::distance_matrix
