// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/serial/serial.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/logistic_regression/host/shard.hpp"

// One thread takes all rows, one after another.
namespace league::logistic {
namespace {

template <class T>
T logit(const Rows<T>& rows, std::int64_t row, const T* weights) {
  T z = weights[0];
  for (int d = 0; d < rows.features; ++d) z += weights[d + 1] * rows.columns[d * rows.pitch + row];
  return z;
}

template <class T>
void add_fused(const Rows<T>& rows, const T* weights, double* sums) {
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const RowTerms<T> terms = row_terms(logit(rows, row, weights), static_cast<T>(rows.labels[row]));
    sums[0] += static_cast<double>(terms.loss);
    sums[1] += static_cast<double>(terms.residual);
    for (int d = 0; d < rows.features; ++d)
      sums[d + 2] += static_cast<double>(terms.residual * rows.columns[d * rows.pitch + row]);
  }
}

template <class T>
void add_unfused(const Rows<T>& rows, const T* weights, T* residual, double* sums) {
  for (std::int64_t row = 0; row < rows.count; ++row) residual[row] = logit(rows, row, weights);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const RowTerms<T> terms = row_terms(residual[row], static_cast<T>(rows.labels[row]));
    residual[row] = terms.residual;
    sums[0] += static_cast<double>(terms.loss);
    sums[1] += static_cast<double>(terms.residual);
  }
  for (int d = 0; d < rows.features; ++d)
    for (std::int64_t row = 0; row < rows.count; ++row)
      sums[d + 2] += static_cast<double>(residual[row] * rows.columns[d * rows.pitch + row]);
}

template <class T>
void add_newton(const Rows<T>& rows, const T* weights, double* sums) {
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const auto x = [&](int j) { return j == 0 ? T{1} : rows.columns[(j - 1) * rows.pitch + row]; };
    const RowTerms<T> terms = row_terms(logit(rows, row, weights), static_cast<T>(rows.labels[row]));
    sums[0] += static_cast<double>(terms.loss);
    double* hessian = sums + gradient_sums(rows.features);
    for (int j = 0; j <= rows.features; ++j) {
      sums[j + 1] += static_cast<double>(terms.residual * x(j));
      const T weighted = terms.weight * x(j);
      for (int k = 0; k <= j; ++k) *hessian++ += static_cast<double>(weighted * x(k));
    }
  }
}

template <class T, Kernel kernel>
void add_rows(const HostWork<T>& work) {
  std::vector<T> weights;
  for (int j = 0; j <= work.rows.features; ++j) weights.push_back(static_cast<T>(work.state.theta[j]));
  std::ranges::fill(work.sums, 0.0);
  if constexpr (kernel == Kernel::fused) add_fused(work.rows, weights.data(), work.sums.data());
  if constexpr (kernel == Kernel::unfused) add_unfused(work.rows, weights.data(), work.residual, work.sums.data());
  if constexpr (kernel == Kernel::newton) add_newton(work.rows, weights.data(), work.sums.data());
}

template <Kernel kernel>
struct Serial {
  template <class T>
  using MethodShard = HostShard<T, serial::Pass, kernel, add_rows<T, kernel>>;
};
using Solve = RegisterSolve<LogisticRegression>;
const Solve fused{"fused", serial::model, by_type<Serial<Kernel::fused>::MethodShard>, {Execution::stream}};
const Solve unfused{"unfused", serial::model, by_type<Serial<Kernel::unfused>::MethodShard>, {Execution::stream}};
const Solve newton{"newton", serial::model, by_type<Serial<Kernel::newton>::MethodShard>, {Execution::stream}};

}  // namespace
}  // namespace league::logistic
