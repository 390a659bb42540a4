// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/pack_rows.hpp"

/// A host thread's work on a block of rows that stays in L1, feature by feature; vector lanes take neighbouring rows.
namespace league::logistic {

inline constexpr std::int64_t host_block = 512;  ///< rows

template <class T>
struct HostBlock {
  alignas(64) T logit[host_block];
  alignas(64) T loss[host_block];
  alignas(64) T weight[host_block];  ///< for newton
};

/// Asks for a block of a column, into the second-level cache.
template <class T>
void prefetch(const T* block) {
  constexpr std::int64_t line = 64 / sizeof(T);
  for (std::int64_t i = 0; i < host_block; i += line) __builtin_prefetch(block + i, 0, 2);
}

/// Rows [begin, begin + count) of z = theta_0 + X theta.
template <class T>
void host_logits(const Rows<T>& rows, std::int64_t begin, std::int64_t count, const double* theta, T* logit) {
  for (std::int64_t i = 0; i < count; ++i) logit[i] = static_cast<T>(theta[0]);
  for (int d = 0; d < rows.features; ++d) {
    const T* x = rows.columns + d * rows.pitch + begin;
    const T weight = static_cast<T>(theta[d + 1]);
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) logit[i] += weight * x[i];
  }
}

inline constexpr int host_sums = 64;  ///< independent sums, to hide latency

/// The sum of `value(i)` for up to a block of rows: 8 terms sequentially, then a tree.
template <class T, class Value>
T host_sum(std::int64_t count, const Value& value) {
  T sums[host_sums] = {};
  std::int64_t i = 0;
  for (; i + host_sums <= count; i += host_sums)
#pragma omp simd
    for (int k = 0; k < host_sums; ++k) sums[k] += value(i + k);
  for (int k = 0; i + k < count; ++k) sums[k] += value(i + k);
  for (int half = host_sums / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sums[k] += sums[k + half];
  return sums[0];
}
template <class T>
double host_total(const T* values, std::int64_t count) {
  return static_cast<double>(host_sum<T>(count, [values](std::int64_t i) { return values[i]; }));
}
template <class T>
double host_product(const T* a, const T* b, std::int64_t count) {
  return static_cast<double>(host_sum<T>(count, [a, b](std::int64_t i) { return a[i] * b[i]; }));
}

/// Logits to residuals, in place; adds the loss and the intercept's gradient to `sums`.
template <class T, bool newton = false>
void host_terms(const std::uint8_t* labels, std::int64_t count, HostBlock<T>& block, double* sums) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const RowTerms<T> terms = row_terms(block.logit[i], static_cast<T>(labels[i]));
    block.logit[i] = terms.residual;
    block.loss[i] = terms.loss;
    if constexpr (newton) block.weight[i] = terms.weight;
  }
  sums[0] += host_total(block.loss, count);
  sums[1] += host_total(block.logit, count);
}

/// Adds loss and gradient of rows [begin, begin + count) to `sums`. @pre count <= host_block
template <class T>
void host_add_block(const Rows<T>& rows, std::int64_t begin, std::int64_t count, const double* theta,
                    HostBlock<T>& block, double* sums) {
  host_logits(rows, begin, count, theta, block.logit);
  host_terms(rows.labels + begin, count, block, sums);
  for (int d = 0; d < rows.features; ++d) {
    const T* x = rows.columns + d * rows.pitch + begin;
    prefetch(x + host_block);
    sums[d + 2] += host_product(x, block.logit, count);
  }
}

/// Blocks [first, last) of rows of worker `worker`.
struct Blocks {
  std::int64_t first, last;
};
inline Blocks blocks_of(std::int64_t rows, std::int64_t worker, std::int64_t workers) {
  const std::int64_t blocks = (rows + host_block - 1) / host_block;
  return {blocks * worker / workers, blocks * (worker + 1) / workers};
}

/// Adds loss and gradient of all blocks of a worker.
template <class T>
void host_add_rows(const Rows<T>& rows, Blocks mine, const double* theta, double* sums) {
  HostBlock<T> block;
  for (std::int64_t b = mine.first; b < mine.last; ++b) {
    const std::int64_t begin = b * host_block, left = rows.count - begin;
    host_add_block(rows, begin, left < host_block ? left : host_block, theta, block, sums);
  }
}

/// The passes of `unfused`, each over all blocks of a worker; `residual` [rows] carries values between them.
template <class T>
void host_logits_of_rows(const Rows<T>& rows, Blocks mine, const double* theta, T* residual) {
  for (std::int64_t b = mine.first; b < mine.last; ++b) {
    const std::int64_t begin = b * host_block, left = rows.count - begin;
    host_logits(rows, begin, left < host_block ? left : host_block, theta, residual + begin);
  }
}
/// `intercept` is added first, if the logits lack it.
template <class T>
void host_terms_of_rows(const Rows<T>& rows, Blocks mine, T* residual, double* sums,
                        const double* intercept = nullptr) {
  T loss[host_block];
  const T first = intercept != nullptr ? static_cast<T>(*intercept) : T{0};
  for (std::int64_t b = mine.first; b < mine.last; ++b) {
    const std::int64_t begin = b * host_block, left = rows.count - begin, count = left < host_block ? left : host_block;
    T* values = residual + begin;
#pragma omp simd
    for (std::int64_t i = 0; i < count; ++i) {
      const RowTerms<T> terms = row_terms(values[i] + first, static_cast<T>(rows.labels[begin + i]));
      values[i] = terms.residual;
      loss[i] = terms.loss;
    }
    sums[0] += host_total(loss, count);
    sums[1] += host_total(values, count);
  }
}
template <class T>
void host_gradient_of_rows(const Rows<T>& rows, Blocks mine, const T* residual, double* sums) {
  for (int d = 0; d < rows.features; ++d)
    for (std::int64_t b = mine.first; b < mine.last; ++b) {
      const std::int64_t begin = b * host_block, left = rows.count - begin;
      sums[d + 2] +=
          host_product(rows.columns + d * rows.pitch + begin, residual + begin, left < host_block ? left : host_block);
    }
}

}  // namespace league::logistic
