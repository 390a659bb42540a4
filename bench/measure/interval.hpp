// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace league::bench {

/// An interval of at least 95 % confidence for the median, from order statistics (the sign test); the range of the
/// samples where they are fewer than six. @pre not empty
struct Interval {
  double low, high;
};
Interval median_interval(std::vector<double> samples);

/// Half of that interval's width over the median. @pre not empty
double relative_noise(const std::vector<double>& samples);

}  // namespace league::bench
