// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <limits>
#include <stdexcept>

#include "backends/backend.hpp"

namespace league::bench {

/// Holds the clock of a peer against the host's clock in this process: over a long batch that both time it may not run
/// more than a fifth too slow. The time of a sample may then not be below a tenth of a compute of that batch: a long
/// batch shares a busy machine with others, a short one need not. Detects wrong units, a sum in place of a mean, and a
/// clock that was replaced. Not detected: a clock that is wrong for short batches only, by less than a factor of ten;
/// too short times on a GPU whose launches take longer than the work, as long as its clock is right.
class ReportedTime {
 public:
  /// Some computes, timed here: until they were queued, and from then until all were done; and the sum of their times
  /// as the peer reports it, from before the first was queued to after the last was done.
  struct Look {
    double queued_s, waited_s;
    double reported_s = std::numeric_limits<double>::infinity();  ///< infinite where it does not report it
  };
  struct Case {
    DeviceKind kind;
    bool idle = false;              ///< no rows: a time of 0 is possible
    bool one_at_a_time = false;     ///< `look` takes a count of 1 only
    std::function<Look(int)> look;  ///< runs that many computes
  };
  /// The clock here disagrees: a change of the machine's load, or a wrong time.
  class Disagreement : public std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  explicit ReportedTime(Case that) : case_(std::move(that)) {}

  /// @param seconds per compute, the mean over `count`, of a call that took `call_s` here
  /// @returns `seconds`. @throws std::runtime_error if it is impossible, Disagreement where measuring again may help
  double require(double seconds, int count, double call_s);

 private:
  void look_again(double seconds);
  Case case_;
  double seen_s_ = std::numeric_limits<double>::infinity();  ///< seconds of one compute, timed here; 0: not measurable
};

}  // namespace league::bench
