// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include "backends/ranks.hpp"

namespace league::bench {

/// Times what all ranks do together. They begin at one moment of rank 0's clock: what a barrier leaves between the
/// ranks would count as time. Clocks of other hosts are held against it as in ReproMPI (Hunold and Carpen-Amarie,
/// 2016): of several round trips the shortest gives the difference, right to half of what it took.
class Rendezvous {
 public:
  /// All ranks make one together.
  explicit Rendezvous(Ranks& ranks);

  /// From the first begin to the last end, the same on all ranks. Alone: how long `body` takes on the host's clock.
  double seconds_of(const std::function<void()>& body);
  /// The most that lay between the first and the last begin so far.
  [[nodiscard]] double begin_skew_s() const { return begin_skew_s_; }
  /// How wrong the differences of the clocks may be.
  [[nodiscard]] double clock_error_s() const { return clock_error_s_; }

 private:
  void compare_clocks();
  Ranks& ranks_;
  double offset_s_ = 0;  ///< this rank's clock less rank 0's
  double clock_error_s_ = 0, begin_skew_s_ = 0;
  double notice_s_ = 200e-6;  ///< from when the moment is said until it comes
};

}  // namespace league::bench
