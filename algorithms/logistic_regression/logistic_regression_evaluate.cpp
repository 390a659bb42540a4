// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cmath>

#include "algorithms/logistic_regression/oracle.hpp"

// The oracle's pass over the rows: the formulas in double with std::exp and std::log1p, and the magnitudes for the
// bounds.
namespace league::logistic {
namespace {

constexpr std::int64_t block = 256;  // rows
using Row = std::array<double, block>;

struct Sums {
  std::size_t n;
  Values values;  ///< the loss, its rounding, then [n] of gradient, rounding and magnitude, then the Hessian
  double largest_sum = 0;
  Sums(std::size_t theta, bool second) : n(theta), values(2 + 3 * n + (second ? n * n : 0)) {}
  double& loss() { return values[0]; }
  double& loss_rounding() { return values[1]; }
  double& gradient(std::size_t j) { return values[2 + j]; }
  double& rounding(std::size_t j) { return values[2 + n + j]; }
  double& magnitude(std::size_t j) { return values[2 + 2 * n + j]; }
  [[nodiscard]] bool has_hessian() const { return values.size() > 2 + 3 * n; }
  double& hessian(std::size_t j, std::size_t k) { return values[2 + 3 * n + j * n + k]; }
  /// `count` means, from value `first` on.
  [[nodiscard]] Values means(std::size_t first, std::size_t count, std::int64_t rows) const {
    Values found(values.begin() + static_cast<std::ptrdiff_t>(first),
                 values.begin() + static_cast<std::ptrdiff_t>(first + count));
    for (double& value : found) value /= static_cast<double>(rows);
    return found;
  }
  void operator+=(const Sums& other) {
    std::ranges::transform(values, other.values, values.begin(), std::plus{});
    largest_sum = std::max(largest_sum, other.largest_sum);
  }
};

/// Per-row values of a block; of a Hessian also the columns of `x`, the constant one first.
struct Block {
  Row logit, sum, residual, rounding, weight;
  std::vector<Row> columns;
};

void finish_rows(std::int64_t count, const std::uint8_t* labels, double n, Block& rows, Sums& sums) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double z = rows.logit[i], y = labels[i], t = std::exp(-std::abs(z));
    const double p = z >= 0 ? 1 / (1 + t) : t / (1 + t), loss = std::max(z, 0.0) - y * z + std::log1p(t);
    rows.residual[i] = p - y;
    rows.weight[i] = t / ((1 + t) * (1 + t));
    rows.rounding[i] = (n + 2) / 4 * rows.sum[i] + 5 + std::abs(rows.residual[i]);
    sums.loss() += loss;
    sums.loss_rounding() += (n + 2) * rows.sum[i] * std::abs(rows.residual[i]) + 2 * std::abs(z) + 5 * loss;
    sums.largest_sum = std::max(sums.largest_sum, rows.sum[i]);
    sums.gradient(0) += rows.residual[i];
    sums.rounding(0) += rows.rounding[i];
    sums.magnitude(0) += std::abs(rows.residual[i]);
  }
}

/// The sums of weight x_j x_k, k <= j; four k at a time share the loads of weight x_j.
void add_hessian(std::size_t count, const Block& rows, Sums& sums) {
  Row weighted;
  for (std::size_t j = 0; j < sums.n; ++j) {
    for (std::size_t i = 0; i < count; ++i) weighted[i] = rows.weight[i] * rows.columns[j][i];
    for (std::size_t k = 0; k <= j; k += 4) {
      const Row &x0 = rows.columns[k], &x1 = rows.columns[std::min(k + 1, j)], &x2 = rows.columns[std::min(k + 2, j)],
                &x3 = rows.columns[std::min(k + 3, j)];
      double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
      for (std::size_t i = 0; i < count; ++i) {
        sum0 += weighted[i] * x0[i];
        sum1 += weighted[i] * x1[i];
        sum2 += weighted[i] * x2[i];
        sum3 += weighted[i] * x3[i];
      }
      const std::array four{sum0, sum1, sum2, sum3};
      for (std::size_t i = 0; i < 4 && k + i <= j; ++i) sums.hessian(j, k + i) += four[i];
    }
  }
}

template <class T>
void add_block(const T* const* columns, std::int64_t count, const std::uint8_t* labels, const Values& theta,
               Block& rows, Sums& sums) {
  const std::size_t n = theta.size();
  rows.logit.fill(theta[0]);
  rows.sum.fill(std::abs(theta[0]));
  for (std::size_t j = 1; j < n; ++j)
    for (std::int64_t i = 0; i < count; ++i) {
      const double term = theta[j] * double{columns[j][i]};
      rows.logit[static_cast<std::size_t>(i)] += term;
      rows.sum[static_cast<std::size_t>(i)] += std::abs(term);
    }
  finish_rows(count, labels, static_cast<double>(n), rows, sums);
  for (std::size_t j = 1; j < n; ++j) {
    double gradient = 0, rounding = 0, magnitude = 0;
#pragma omp simd reduction(+ : gradient, rounding, magnitude)
    for (std::int64_t i = 0; i < count; ++i) {
      const double x = columns[j][i], term = rows.residual[static_cast<std::size_t>(i)] * x;
      gradient += term;
      magnitude += std::abs(term);
      rounding += std::abs(x) * rows.rounding[static_cast<std::size_t>(i)];
    }
    sums.gradient(j) += gradient, sums.rounding(j) += rounding, sums.magnitude(j) += magnitude;
  }
  if (!sums.has_hessian()) return;
  rows.columns.resize(n);
  rows.columns[0].fill(1);
  for (std::size_t j = 1; j < n; ++j) std::copy_n(columns[j], count, rows.columns[j].begin());
  add_hessian(static_cast<std::size_t>(count), rows, sums);
}

/// Calls `take(columns, begin, count)` for each block of the local rows, on the threads of a parallel region;
/// `columns[j]` is feature j - 1 of them.
template <class T, class Take>
void for_blocks(const LogisticRegression& problem, const Take& take) {
  const std::int64_t rows = problem.rows.size();
  const T* first = problem.columns.values<const T>().data();
#pragma omp for schedule(static) nowait
  for (std::int64_t begin = 0; begin < rows; begin += block) {
    std::array<const T*, LogisticRegression::max_features + 1> columns{};
    for (std::int64_t j = 1; j <= problem.features; ++j)
      columns[static_cast<std::size_t>(j)] = first + (j - 1) * rows + begin;
    take(columns.data(), begin, std::min(block, rows - begin));
  }
}

template <class T>
Sums add_all(const LogisticRegression& problem, const Values& theta) {
  Sums all(theta.size(), problem.newton);
  const std::uint8_t* labels = problem.labels.values<const std::uint8_t>().data();
#pragma omp parallel
  {
    Sums mine(theta.size(), problem.newton);
    Block rows;
    for_blocks<T>(problem, [&](const T* const* columns, std::int64_t begin, std::int64_t count) {
      add_block(columns, count, labels + begin, theta, rows, mine);
    });
#pragma omp critical
    all += mine;
  }
  return all;
}

double weight_of(double z) {
  const double t = std::exp(-std::abs(z));
  return t / ((1 + t) * (1 + t));
}

template <class T>
StepChange step_change_of_all(const LogisticRegression& problem, const Values& theta, const Values& step) {
  double farthest = 0, growth = 0;
#pragma omp parallel reduction(max : farthest, growth)
  for_blocks<T>(problem, [&](const T* const* columns, std::int64_t, std::int64_t count) {
    Row logit, change;
    logit.fill(theta[0]), change.fill(step[0]);
    for (std::size_t j = 1; j < theta.size(); ++j)
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        logit[i] += theta[j] * double{columns[j][i]};
        change[i] += step[j] * double{columns[j][i]};
      }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      farthest = std::max(farthest, std::abs(change[i]));
      growth = std::max(growth, weight_of(logit[i] + change[i]) / weight_of(logit[i]));
    }
  });
  return {farthest, growth};
}

}  // namespace

StepChange step_change(const LogisticRegression& problem, const Values& theta, const Values& step, Reduce& reduce) {
  const StepChange here = problem.dtype == Dtype::f64 ? step_change_of_all<double>(problem, theta, step)
                                                      : step_change_of_all<float>(problem, theta, step);
  std::array largest{here.logit, here.growth};
  reduce.max(largest);
  return {largest[0], largest[1]};
}

Evaluation evaluate(const LogisticRegression& problem, const Values& theta, Reduce& reduce) {
  Sums sums = problem.dtype == Dtype::f64 ? add_all<double>(problem, theta) : add_all<float>(problem, theta);
  reduce.sum(sums.values);
  reduce.max({&sums.largest_sum, 1});
  const std::size_t n = theta.size();
  const auto means = [&](std::size_t first, std::size_t count) { return sums.means(first, count, problem.extent()); };
  Evaluation here{.loss = means(0, 1)[0],
                  .gradient = means(2, n),
                  .rounding = means(2 + n, n),
                  .magnitude = means(2 + 2 * n, n),
                  .loss_rounding = means(1, 1)[0],
                  .largest_sum = sums.largest_sum,
                  .hessian = means(2 + 3 * n, sums.has_hessian() ? n * n : 0)};
  for (std::size_t j = 1; j < n; ++j) {
    here.loss += problem.l2 / 2 * theta[j] * theta[j];
    here.gradient[j] += problem.l2 * theta[j];
  }
  for (std::size_t j = 0; j < n && !here.hessian.empty(); ++j) {
    for (std::size_t k = 0; k < j; ++k) here.hessian[k * n + j] = here.hessian[j * n + k];
    if (j > 0) here.hessian[j * n + j] += problem.l2;
  }
  return here;
}

}  // namespace league::logistic
