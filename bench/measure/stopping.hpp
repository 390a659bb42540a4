// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bench/measure/sampling.hpp"
#include "bench/study/case.hpp"

namespace league::bench {

/// Decides, batch after batch, how many more samples each case of a comparison gets.
///
/// Optional stopping can bias the result: sampling until one case is faster than another always ends. So the rule uses
/// only the width of the interval of each median, never the difference of two cases; from ten samples on, and seldom:
/// each batch is half of all before it. Tests compare the rate of false positives with that of a fixed number of
/// samples.
class Stopping {
 public:
  /// Why it stopped: `noise`: no case is noisier than asked for. `placements`: the placements of a case differ by more,
  /// which more samples do not narrow. `time`, `count`: their limits came first.
  enum class Reason { none, noise, placements, time, count };

  static constexpr int first_batch = 6;     ///< fewer give no interval
  static constexpr int max_samples = 1000;  ///< of each case

  /// Without a precision, one batch of all.
  explicit Stopping(std::optional<Precision> precision) : precision_(precision) {}

  /// How many more samples each case gets, after those `drawn` in `spent_s`; 0: no more.
  int next(std::span<const Drawn> drawn, double spent_s);
  [[nodiscard]] Reason reason() const { return reason_; }

 private:
  int stop(Reason reason);

  std::optional<Precision> precision_;
  int asked_ = 0;  ///< of each case
  Reason reason_ = Reason::none;
};

std::string_view name(Stopping::Reason reason);

}  // namespace league::bench
