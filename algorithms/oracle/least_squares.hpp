// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/contract/problem.hpp"

/// Expected results of linear least-squares solvers in every step, from the moments of the data, for any number of
/// rows. For oracles: host only, in long double.
namespace league::least_squares {

/// Sums over rows of products of two columns of [features .. target], and of their magnitudes; both symmetric
/// [columns x columns].
struct Moments {
  explicit Moments(int columns_);
  /// Adds the other's moments, `weight` times.
  Moments& add(const Moments& other, long double weight = 1);
  /// Sums the moments over all processes.
  void sum_over(Reduce& reduce);
  [[nodiscard]] std::size_t at(int i, int j) const { return static_cast<std::size_t>(i * columns + j); }

  int columns;
  std::vector<long double> plain, magnitudes;
};

inline constexpr std::int64_t rows_per_block = 256;

/// Adds the moments of `rows` rows whose columns are `tile` [columns x rows_per_block]: in double within the block.
void add_block(Moments& moments, std::span<const double> tile, int rows);

/// Moments of rows [begin, end) in parallel; `row(i, put)` calls `put(column, value)` for every column.
template <class Row>
Moments moments_of(std::int64_t begin, std::int64_t end, int columns, const Row& row) {
  Moments total(columns);
#pragma omp parallel
  {
    Moments mine(columns);
    std::vector<double> tile(static_cast<std::size_t>(columns * rows_per_block));
#pragma omp for schedule(static)
    for (std::int64_t first = begin; first < end; first += rows_per_block) {
      const std::int64_t rows = std::min(rows_per_block, end - first);
      for (std::int64_t i = 0; i < rows; ++i)
        row(first + i,
            [&](int column, double value) { tile[static_cast<std::size_t>(column * rows_per_block + i)] = value; });
      add_block(mine, tile, static_cast<int>(rows));
    }
#pragma omp critical
    total.add(mine);
  }
  return total;
}

/// Sum over the rows of (features . theta - target)^2.
long double squared_error(const Moments& moments, std::span<const double> theta);

/// Eigenvalues of the symmetric `matrix` [n x n], ascending, and its eigenvectors, the columns of [n x n].
struct Eigen {
  std::vector<double> values, vectors;
};
Eigen eigen(std::vector<double> matrix, int n);

/// A descent theta <- theta - rate (H theta - r), with H and r the moments `gradient`, and its losses
/// `loss_factor` x squared error of `loss`, each before its step.
struct Descent {
  Moments gradient, loss;
  double rate, loss_factor;
  std::int64_t steps;
  std::vector<double> start;
  double unit;  ///< rounding of a computed sum over the rows, relative to the sum of its terms' magnitudes
};

/// Every value of a descent, with its error bound.
struct Descended {
  std::vector<double> theta, theta_bound, loss, loss_bound;
};

/// The descent in long double. Its bounds follow from `unit`: a step perturbs theta by at most
/// rate x unit x |H| (|theta| + bound) and the rounding of the update, and in the basis of H's eigenvectors an error
/// becomes |1 - rate lambda| times itself with each step.
Descended descend(const Descent& descent);

/// Checks a computed descent; `outputs`: theta, loss and steps in this order. It has diverged if it is not finite where
/// the oracle exceeds the range of `dtype`, or if the loss grows. The figure `train_loss` is the last loss.
/// @param summed the sum over the rows divided by the loss: the number of rows for a mean
Verdict judge(const Descended& right, const Outputs& outputs, Dtype dtype, double summed = 1);

/// The minimum of the squared error, from the normal equations.
struct Minimum {
  std::vector<double> theta, bound;
  double condition;  ///< of the features' matrix: the ratio of its singular values, from the eigenvalues of H
};
/// @param unit as in `Descent`
/// @throws std::invalid_argument naming the feature if the equations are singular, or singular within the rounding of
/// the moments
Minimum minimise(const Moments& moments, double unit);

}  // namespace league::least_squares
