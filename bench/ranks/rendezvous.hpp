// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>

#include "backends/ranks.hpp"

namespace league::bench {

/// Times what all ranks do together. All start at an agreed moment of rank 0's clock, since the exit skew of a barrier
/// would count as time. Clock offsets are measured as in ReproMPI (Hunold and Carpen-Amarie, 2016): from the shortest
/// of several round trips, with an error of at most half of its duration.
class Rendezvous {
 public:
  /// Collective: all ranks construct it together.
  explicit Rendezvous(Ranks& ranks);

  /// From the first start to the last end, the same on all ranks. With one rank: host time of `body`.
  double seconds_of(const std::function<void()>& body);
  /// The maximum skew between the first and the last start so far.
  [[nodiscard]] double begin_skew_s() const { return begin_skew_s_; }
  /// Bound on the error of the clock offsets.
  [[nodiscard]] double clock_error_s() const { return clock_error_s_; }

 private:
  void compare_clocks();
  Ranks& ranks_;
  double offset_s_ = 0;  ///< this rank's clock less rank 0's
  double clock_error_s_ = 0, begin_skew_s_ = 0;
  double notice_s_ = 200e-6;  ///< from the announcement of the moment until it comes
};

}  // namespace league::bench
