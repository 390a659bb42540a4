// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "bench/record/result.hpp"

namespace league::bench {

/// One more preparation of a case, with arrays of its own.
struct Instance {
  std::unique_ptr<PreparedCase> prepared_case;
  std::unique_ptr<Meter> meter;
};

/// A case that passed its check and waits to be sampled.
struct Ready {
  Result* result;
  std::unique_ptr<PreparedCase> prepared_case;
  std::unique_ptr<Meter> meter;
  std::unique_ptr<Inspector> inspector{};
  int breaks = 0;                  ///< of the ranks, when it was opened
  std::vector<Instance> others{};  ///< its further placements (bench/measure/placements.hpp)
  int drawn = 0;                   ///< samples so far

  [[nodiscard]] int placements() const { return 1 + static_cast<int>(others.size()); }
  /// The maximum number of its samples.
  [[nodiscard]] int max_samples() const;
  /// Draws the next sample, at the placement whose turn it is, and reads the metrics of its devices after its timed
  /// part. @returns seconds of one compute
  double sample();
  /// The last trials, after all samples.
  void finish();
  /// Whether the queue was held back while a batch was queued, at all placements.
  [[nodiscard]] bool held() const;
};

/// Equal for all models and launches of a method and execution on a kind of device: these are sampled alike.
using Alike = std::tuple<const Method*, Execution, DeviceKind>;
Alike alike(const Ready& ready);

/// The batch size is the same for all that are sampled alike, except where a sample would take too long.
void choose_batches(std::vector<Ready>& group);

}  // namespace league::bench
