// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <limits>
#include <stdexcept>

#include "backends/backend.hpp"

namespace league::bench {

/// Holds the times that a peer reports of its own computes against this side's clock. Wrong units, a sum in place of a
/// mean or a clock that stands still are found; a factor below ten is not, nor are times too short on a GPU whose
/// launches take longer than the work.
class ReportedTime {
 public:
  /// Some computes in one call, seen from here: until they were queued, and until all were done after that.
  struct Look {
    double queued_s, waited_s;
  };
  struct Case {
    DeviceKind kind;
    bool idle = false;              ///< there are no rows: it may take no time
    bool one_at_a_time = false;     ///< `look` takes a count of 1 only
    std::function<Look(int)> look;  ///< runs that many computes
  };
  /// This side's clock says otherwise: lightly loaded a moment ago and not now, or a wrong time.
  class Disagreement : public std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  explicit ReportedTime(Case that) : case_(std::move(that)) {}

  /// @param seconds of one compute, the mean over `count`, from a call that took `call_s` here
  /// @returns it. @throws std::runtime_error naming it if it cannot be, Disagreement where measuring again may help
  double require(double seconds, int count, double call_s);

 private:
  void look_again(double seconds);
  Case case_;
  double seen_s_ = std::numeric_limits<double>::infinity();  ///< one compute takes this here; 0: it cannot be seen
};

}  // namespace league::bench
