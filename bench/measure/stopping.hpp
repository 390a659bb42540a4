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
/// Data that decide when to stop can bias what is then concluded from them: whoever samples until one case is faster
/// than another will find that. So only the widths of the intervals of medians are looked at, of each case by itself,
/// never which is faster; from ten samples on, and seldom: each batch is half of all before it. Tests hold the null
/// test of such samples against that of a fixed number.
class Stopping {
 public:
  /// Why it stopped: `noise`: no case is noisier than asked for. `time`, `count`: their limits came first.
  enum class Reason { none, noise, time, count };

  static constexpr int first_batch = 6;  ///< no interval below
  static constexpr int most = 1000;      ///< of each case

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
