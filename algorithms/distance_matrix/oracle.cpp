// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/distance_matrix/oracle.hpp"

#include <algorithm>
#include <set>

namespace league::distance_matrix {
namespace {

constexpr std::int64_t value_budget = std::int64_t{1} << 24;
constexpr std::int64_t operation_budget = std::int64_t{1} << 31;

std::int64_t affordable_rows(std::int64_t n, std::int64_t dimension) {
  return std::min(value_budget / n, operation_budget / (n * dimension));
}

/// All rows within the budget; else the first and the last, the rows at shard borders of up to 8 devices, and others
/// evenly between.
std::set<std::int64_t> sample(std::int64_t n, std::int64_t affordable) {
  std::set<std::int64_t> rows;
  if (affordable >= n) {
    for (std::int64_t row = 0; row < n; ++row) rows.insert(row);
    return rows;
  }
  rows = {0, n - 1};
  for (std::int64_t devices = 2; devices <= 8; ++devices)
    for (std::int64_t device = 1; device < devices; ++device) {
      const std::int64_t border = device * (n / devices) + std::min(device, n % devices);
      rows.insert({border - 1, border});
    }
  const std::int64_t spread = std::max<std::int64_t>(affordable - static_cast<std::int64_t>(rows.size()), 16);
  for (std::int64_t i = 1; i < spread; ++i) rows.insert(i * (n / spread) + i % 7);
  return rows;
}

/// The local rows of the sample.
std::vector<std::int64_t> local_sample(const DistanceMatrix& problem) {
  const std::set<std::int64_t> rows = sample(problem.n, affordable_rows(problem.n, problem.dimension));
  return {rows.lower_bound(problem.rows.begin), rows.lower_bound(problem.rows.end)};
}

}  // namespace

Oracle::Oracle(const DistanceMatrix& problem)
    : n(problem.n),
      dimension(problem.dimension),
      points(static_cast<std::size_t>(n * dimension)),
      norms(static_cast<std::size_t>(n)),
      sum(static_cast<std::size_t>(dimension)),
      is_complete(affordable_rows(n, dimension) >= n),
      rows(local_sample(problem)),
      squared(rows.size() * static_cast<std::size_t>(n)) {
  if (problem.dtype == Dtype::f32)
    std::ranges::copy(problem.points.values<float>(), points.begin());
  else
    std::ranges::copy(problem.points.values<double>(), points.begin());
  const auto columns = static_cast<std::size_t>(dimension), count = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < columns; ++k) {
      const double x = points[i * columns + k];
      norms[i] += x * x;
      sum[k] += x;
    }
  for (const double norm : norms) sum_norms += norm;
#pragma omp parallel for schedule(dynamic)
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double* x = &points[static_cast<std::size_t>(rows[r]) * columns];
    for (std::size_t j = 0; j < count; ++j) {
      const double* y = &points[j * columns];
      double partial[4] = {};  // four independent chains
      for (std::size_t k = 0; k < columns; ++k) partial[k % 4] += (x[k] - y[k]) * (x[k] - y[k]);
      squared[r * count + j] = (partial[0] + partial[1]) + (partial[2] + partial[3]);
    }
  }
}

std::int64_t Oracle::sampled(std::int64_t row) const {
  const auto found = std::ranges::lower_bound(rows, row);
  return found != rows.end() && *found == row ? found - rows.begin() : -1;
}

double Oracle::row_sum(std::int64_t row) const {
  double product = 0;
  for (std::int64_t k = 0; k < dimension; ++k)
    product += points[static_cast<std::size_t>(row * dimension + k)] * sum[static_cast<std::size_t>(k)];
  return row_magnitude(row) - 2 * product;
}

double Oracle::row_magnitude(std::int64_t row) const {
  return static_cast<double>(n) * norms[static_cast<std::size_t>(row)] + sum_norms;
}

}  // namespace league::distance_matrix
