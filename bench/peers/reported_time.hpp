// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <limits>
#include <stdexcept>

#include "backends/backend.hpp"

namespace league::bench {

/// Checks the times that a peer reports against the host's clock in this process. Detects wrong units, a sum in place
/// of a mean, and a stopped clock; not a factor below ten, nor too short times on a GPU whose launches take
/// longer than the work.
class ReportedTime {
 public:
  /// Some computes in one call, timed here: until they were queued, and from then until all were done.
  struct Look {
    double queued_s, waited_s;
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
