// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/interval.hpp"

#include <algorithm>
#include <cmath>

#include "bench/measure/clock.hpp"

namespace league::bench {

Interval median_interval(std::vector<double> samples) {
  std::ranges::sort(samples);
  const auto n = samples.size();
  // The median lies outside [x_k, x_{n+1-k}] (from 1) with the probability 2 P(B < k), B of n fair coins.
  std::size_t k = 1;
  double below = std::pow(0.5, static_cast<double>(n)), term = below;  // P(B < k), P(B = k - 1)
  while (true) {
    term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    below += term;
    if (2 * below > 0.05 || 2 * (k + 1) > n) break;
    ++k;
  }
  return {samples[k - 1], samples[n - k]};
}

double relative_noise(const std::vector<double>& samples) {
  const Interval interval = median_interval(samples);
  return (interval.high - interval.low) / 2 / median(samples);
}

}  // namespace league::bench
