// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/measure/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bench/measure/clock.hpp"
#include "bench/measure/sampling.hpp"

namespace league::bench {
namespace {

Interval order_interval(std::vector<double> samples) {
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

/// The median of each placement that has samples.
std::vector<double> placement_medians(const std::vector<double>& samples, int placements) {
  std::vector<double> medians;
  for (int placement = 0; placement < std::min(placements, static_cast<int>(samples.size())); ++placement) {
    std::vector<double> own;
    for (int i = 0; i < std::ssize(samples); ++i)
      if (placement_of(i, placements) == placement) own.push_back(samples[static_cast<std::size_t>(i)]);
    medians.push_back(median(own));
  }
  return medians;
}

/// Student's interval of the geometric mean. @pre two values or more
Interval student_interval(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double value : values) mean += std::log(value) / n;
  for (const double value : values) squares += std::pow(std::log(value) - mean, 2);
  const double half = student_quantile(static_cast<int>(values.size()) - 1) * std::sqrt(squares / (n - 1) / n);
  return {std::exp(mean - half), std::exp(mean + half)};
}

/// The probability that |t| is at most tan(angle) sqrt(freedom).
double student_probability(double angle, int freedom) {
  const double cosine = std::cos(angle);
  const bool odd = freedom % 2 == 1;
  double term = odd ? cosine : 1, sum = freedom == 1 ? 0 : term;
  for (int i = odd ? 3 : 2; i < freedom; i += 2) sum += term *= cosine * cosine * (i - 1) / i;
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

double student_quantile(int freedom) {
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_probability(middle, freedom) < 0.95 ? low : high) = middle;
  }
  return std::tan(low) * std::sqrt(freedom);
}

Interval median_interval(std::vector<double> samples, int placements) {
  const std::vector<double> medians = placement_medians(samples, placements);
  const Interval of_samples = order_interval(std::move(samples));
  if (medians.size() < 2) return of_samples;
  const Interval of_placements = student_interval(medians);
  return {std::min(of_samples.low, of_placements.low), std::max(of_samples.high, of_placements.high)};
}

double relative_noise(const std::vector<double>& samples, int placements) {
  const Interval interval = median_interval(samples, placements);
  return (interval.high - interval.low) / 2 / median(samples);
}

double noise_within(const std::vector<double>& samples, int placements) {
  const std::vector<double> medians = placement_medians(samples, placements);
  std::vector<double> relative = samples;
  for (int i = 0; i < std::ssize(samples); ++i)
    relative[static_cast<std::size_t>(i)] /= medians[static_cast<std::size_t>(placement_of(i, placements))];
  return relative_noise(relative);
}

}  // namespace league::bench
