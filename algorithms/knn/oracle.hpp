// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "algorithms/knn/knn.hpp"

namespace league::knn {

/// The k nearest of a test row by brute force, in int32 for exact data, else in double.
struct Nearest {
  std::vector<std::int64_t> indices;
  std::vector<double> squared;
};

/// Expected results of the local rows: all rows of a small problem, an evenly spread sample of a large one. Computed at
/// first use.
class Oracle {
 public:
  explicit Oracle(const Knn& problem) : problem_(problem) {}
  /// By global row index.
  const std::map<std::int64_t, Nearest>& nearest();

 private:
  const Knn& problem_;
  std::once_flag once_;
  std::map<std::int64_t, Nearest> nearest_;
};

/// Checks the local rows.
Verdict judge(const Knn& problem, Oracle& oracle, const Outputs& outputs);

}  // namespace league::knn
