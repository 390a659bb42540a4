// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/softmax_regression/common/dual_limits.hpp"
#include "algorithms/softmax_regression/common/step.hpp"

/// The method `dual`, for few rows: weights that start at zero stay sums of the rows, W = sum over rows i of x_i a_i.
/// With K = X X^T, a step changes the rows' logits by products of K and the residuals: neither W nor X is read until
/// the end. All in double, except for the exponentials. Shared by CUDA and Kokkos.
namespace league::softmax_regression {

/// Arguments of its kernels, on one device.
template <class T>
struct DualWork {
  const T* x;
  const std::int32_t* labels;
  Descent descent;
  double* gram;   ///< K [rows x rows], without the constant feature
  double* alpha;  ///< [classes x rows], then the biases
  std::int64_t steps;

  [[nodiscard]] LEAGUE_FUNCTION int rows() const { return static_cast<int>(descent.all_rows); }

  /// A thread's part of an element of K.
  [[nodiscard]] LEAGUE_FUNCTION double product(int i, int j, int thread, int threads) const {
    const T *a = x + std::int64_t{i} * descent.pitch, *b = x + std::int64_t{j} * descent.pitch;
    const int count = (descent.features - thread + threads - 1) / threads;
    return blocks::sum_in_order<8>(count,
                                   [&](int n) {
                                     const int f = thread + n * threads;
                                     return static_cast<double>(a[f]) * static_cast<double>(b[f]);
                                   }) *
           descent.scale * descent.scale;
  }
  /// Writes element `index` of theta, [features + 1 x classes] with the features fastest.
  LEAGUE_FUNCTION void store_theta(std::int64_t index) const {
    const int c = static_cast<int>(index / (descent.features + 1)),
              f = static_cast<int>(index % (descent.features + 1));
    const double* of_class = alpha + std::int64_t{c} * rows();
    double value = alpha[std::int64_t{descent.classes} * rows() + c];
    if (f < descent.features)
      value = blocks::sum_in_order<8>(
                  rows(),
                  [&](int i) { return static_cast<double>(x[std::int64_t{i} * descent.pitch + f]) * of_class[i]; }) *
              descent.scale;
    descent.theta[std::int64_t{f} * descent.classes + c] = value;
  }
};

/// Scratch of the team that takes the steps.
struct DualScratch {
  double *logits, *alpha, *residuals;  ///< [classes x rows]; logits without the biases
  double *losses, *biases;             ///< [rows], [classes]
  double* squares;                     ///< [threads]
  float* exponentials;                 ///< [classes x rows]

  LEAGUE_FUNCTION DualScratch(double* memory, int rows, int classes)
      : logits(memory),
        alpha(logits + rows * classes),
        residuals(alpha + rows * classes),
        losses(residuals + rows * classes),
        biases(losses + rows),
        squares(biases + classes),
        exponentials(reinterpret_cast<float*>(squares + DualLimits::max_threads)) {}
};

/// All steps, by one team: a thread per row and class.
template <class T, class Group>
LEAGUE_FUNCTION void take_dual_steps(const Group& group, const DualWork<T>& work, double* memory) {
  const Descent& descent = work.descent;
  const int rows = work.rows(), classes = descent.classes, items = rows * classes;
  const DualScratch scratch(memory, rows, classes);
  const auto each = [&](int count, const auto& body) {
    for (int i = group.rank; i < count; i += group.size) body(i);
  };
  const auto logit = [&](int row, int c) { return scratch.logits[c * rows + row] + scratch.biases[c]; };
  each(items, [&](int i) { scratch.logits[i] = scratch.alpha[i] = 0; });
  each(classes, [&](int c) { scratch.biases[c] = 0; });
  group.barrier();
  const double keep = 1 - descent.learning_rate * descent.l2;
  for (std::int64_t step = 0; step < work.steps; ++step) {
    const Rows batch = descent.own_rows(step);
    const int first = static_cast<int>(batch.first), size = static_cast<int>(batch.last) - first;
    const auto row_of = [&](int i) { return first + i % size; };
    each(size * classes, [&](int i) {
      const int row = row_of(i), c = i / size;
      double largest = logit(row, 0);
      for (int k = 1; k < classes; ++k) largest = logit(row, k) > largest ? logit(row, k) : largest;
      const auto below = static_cast<float>(logit(row, c) - largest);
      scratch.exponentials[c * rows + row] = expf(below);
      if (c == work.labels[row]) scratch.losses[row] = -static_cast<double>(below);
    });
    group.barrier();
    each(size * classes, [&](int i) {
      const int row = row_of(i), c = i / size;
      float sum = 0;
      for (int k = 0; k < classes; ++k) sum += scratch.exponentials[k * rows + row];
      const bool own = c == work.labels[row];
      scratch.residuals[c * rows + row] =
          static_cast<double>(scratch.exponentials[c * rows + row] / sum - (own ? 1.0F : 0.0F));
      if (own) scratch.losses[row] += static_cast<double>(logf(sum));
    });
    if (descent.l2 != 0) {  // |W|^2 is the sum of a times the logits
      double squares = 0;
      each(items, [&](int i) { squares += scratch.alpha[i] * scratch.logits[i]; });
      scratch.squares[group.rank] = squares;
      blocks::combine_in_scratch(group, scratch.squares, [](double one, double other) { return one + other; });
    }
    group.barrier();
    const double stride = descent.learning_rate / size;
    const auto sum_of = [&](int c, const auto& factor) {
      const double* residuals = scratch.residuals + c * rows + first;
      return blocks::sum_in_order<8>(size, [&](int j) { return factor(j) * residuals[j]; });
    };
    each(items + classes + 1, [&](int i) {
      if (i < items) {
        const int row = i % rows, c = i / rows;
        const double* of_row = work.gram + std::int64_t{first} * rows + row;  // K is symmetric
        const double more = sum_of(c, [&](int j) { return of_row[std::int64_t{j} * rows]; });
        scratch.logits[i] = keep * scratch.logits[i] - stride * more;
        const bool in_batch = row >= first && row < first + size;
        scratch.alpha[i] = keep * scratch.alpha[i] - (in_batch ? stride * scratch.residuals[i] : 0);
      } else if (i < items + classes) {
        scratch.biases[i - items] -= stride * sum_of(i - items, [](int) { return 1.0; });
      } else {
        const double sum = blocks::sum_in_order<8>(size, [&](int j) { return scratch.losses[first + j]; });
        descent.loss[step] = sum / size + (descent.l2 != 0 ? descent.l2 / 2 * scratch.squares[0] : 0);
      }
    });
    group.barrier();
  }
  each(items, [&](int i) { work.alpha[i] = scratch.alpha[i]; });
  each(classes, [&](int c) { work.alpha[items + c] = scratch.biases[c]; });
  if (group.rank == 0) *descent.taken = work.steps;
}

}  // namespace league::softmax_regression
