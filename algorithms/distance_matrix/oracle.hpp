// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/distance_matrix/distance_matrix.hpp"

namespace league::distance_matrix {

/// Expected distances in double: every value of a sample of the local rows, and the sum of every row.
struct Oracle {
  explicit Oracle(const DistanceMatrix& problem);

  /// Index of a row in the sample; -1 if it is not sampled.
  [[nodiscard]] std::int64_t sampled(std::int64_t row) const;
  /// sum_j |x_row - x_j|^2 = n |x_row|^2 + sum_j |x_j|^2 - 2 x_row . sum_j x_j.
  [[nodiscard]] double row_sum(std::int64_t row) const;
  /// sum_j (|x_row|^2 + |x_j|^2): the magnitudes that cancel in it.
  [[nodiscard]] double row_magnitude(std::int64_t row) const;

  std::int64_t n, dimension;
  std::vector<double> points;  ///< [n x dimension]
  std::vector<double> norms;   ///< [n], squared
  std::vector<double> sum;     ///< [dimension], of the points
  double sum_norms = 0;
  bool is_complete;                ///< every row of the problem is sampled (within the budget)
  std::vector<std::int64_t> rows;  ///< the local sample, ascending
  std::vector<double> squared;     ///< [rows.size() x n]
};

}  // namespace league::distance_matrix
