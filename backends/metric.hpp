// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace league {

/// A value that is measured beside a time. Records and reports show it by its name and unit, which they need not know.
struct MetricValue {
  std::string name;  ///< in snake_case: "l2_hit_rate"
  std::string unit;  ///< "%"; empty for counts and marks
  double value = 0;
  bool marks = false;  ///< whether a value other than 0 marks the sample or launch that it is of, as disturbed
};

}  // namespace league
