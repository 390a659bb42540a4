// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "algorithms/knn/knn.hpp"

namespace league::knn {

/// The squared distance of two rows, straight from the formula: exact for whole numbers, else in double.
double squared_distance(const Knn& problem, std::int64_t test_row, std::int64_t train_row);

/// The k nearest of a test row by brute force, in int32 for exact data, else in double.
struct Nearest {
  std::vector<std::int64_t> indices;
  std::vector<double> squared;
};

/// The right answer for all rows of a small problem, and for rows spread evenly over a large one; found at first use.
class Oracle {
 public:
  explicit Oracle(const Knn& problem) : problem_(problem) {}
  /// By test row.
  const std::map<std::int64_t, Nearest>& nearest();

 private:
  const Knn& problem_;
  std::once_flag once_;
  std::map<std::int64_t, Nearest> nearest_;
};

/// Judges rows [first, first + values' rows) of the results.
Verdict judge(const Knn& problem, Oracle& oracle, const Outputs& outputs);

}  // namespace league::knn
