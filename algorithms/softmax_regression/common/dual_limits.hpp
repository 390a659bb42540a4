// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/portable.hpp"

namespace league::softmax_regression {

/// What `dual` can take: the scratch of one team holds the logits, coefficients and residuals of all rows.
struct DualLimits {
  static constexpr int max_bytes = 39'000, max_threads = 512;
  LEAGUE_FUNCTION static constexpr std::int64_t bytes(std::int64_t rows, int classes) {
    return rows * classes * (3 * 8 + 4) + (rows + classes + max_threads) * 8;
  }
  /// Whether a team's scratch holds all rows.
  static constexpr bool fits(std::int64_t rows, int classes) { return bytes(rows, classes) <= max_bytes; }
};

}  // namespace league::softmax_regression
