// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "backends/backend.hpp"
#include "backends/portable.hpp"

namespace league::softmax_regression {

/// What `dual` can take: the scratch of one team holds the logits, coefficients and residuals of all rows.
struct DualLimits {
  static constexpr int max_bytes = 39'000, max_threads = 512;
  LEAGUE_FUNCTION static constexpr std::int64_t bytes(std::int64_t rows, int classes) {
    return rows * classes * (3 * 8 + 4) + (rows + classes + max_threads) * 8;
  }
  static constexpr bool fits(std::int64_t rows, int classes) { return bytes(rows, classes) <= max_bytes; }
  /// @throws Unsupported for more rows than fit
  static void require(std::int64_t rows, int classes) {
    if (fits(rows, classes)) return;
    std::int64_t most = 0;
    while (fits(most + 1, classes)) ++most;
    throw Unsupported("train " + std::to_string(rows) + " x classes " + std::to_string(classes) +
                      ": the scratch memory of one team holds all rows' logits, here up to " + std::to_string(most) +
                      " rows");
  }
};

}  // namespace league::softmax_regression
