// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

namespace league::bench {

struct Interval {
  double low, high;
};

/// An interval of at least 95 % confidence for the median, from order statistics (the sign test); the range of the
/// samples where they are fewer than six. Samples that take several placements of the arrays in turn are not
/// independent: the interval then also covers Student's of the logarithms of the placements' medians, as in the report
/// (bench/report/placements.py). @pre not empty
Interval median_interval(std::vector<double> samples, int placements = 1);

/// Half of that interval's width over the median. @pre not empty
double relative_noise(const std::vector<double>& samples, int placements = 1);

/// The same of samples over the median of their placement: what varies at one placement. @pre not empty
double noise_within(const std::vector<double>& samples, int placements);

/// The 97.5 % quantile of Student's t. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4. @pre freedom > 0
double student_quantile(int freedom);

}  // namespace league::bench
