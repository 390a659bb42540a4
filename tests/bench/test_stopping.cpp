// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/measure/clock.hpp"
#include "bench/measure/interval.hpp"
#include "bench/measure/stopping.hpp"

namespace league::bench {
namespace {

using Reason = Stopping::Reason;

/// The counts of samples after each batch, of cases that draw `next(case)` and take `seconds` a round.
std::vector<int> counts(Stopping& stopping, std::vector<Drawn>& drawn, double seconds,
                        const std::function<double(std::size_t)>& next) {
  std::vector<int> counts;
  int all = 0;
  while (const int more = stopping.next(drawn, all * seconds)) {
    counts.push_back(all += more);
    for (std::size_t i = 0; i < drawn.size(); ++i)
      for (int k = 0; k < more; ++k) drawn[i].samples.push_back(next(i));
  }
  return counts;
}

/// A millisecond, and from sample to sample `noise` more and less.
std::function<double(std::size_t)> alternating(double noise) {
  return [noise, sign = 1.0](std::size_t) mutable { return 1e-3 * (1 + noise * (sign = -sign)); };
}

TEST(Stopping, ANumberOfSamplesIsOneBatch) {
  Stopping stopping(std::nullopt);
  EXPECT_GE(stopping.next({}, 0), 1'000'000);
  EXPECT_EQ(stopping.next({}, 1e9), 0);
  EXPECT_EQ(stopping.reason(), Reason::none);
}

TEST(Stopping, QuietCasesEndAtTheFirstLook) {
  std::vector<Drawn> drawn(2);
  Stopping stopping(Precision{.max_noise = 0.01, .time_limit_s = 1});
  EXPECT_EQ(counts(stopping, drawn, 1e-6, alternating(0.005)), (std::vector{6, 10}));
  EXPECT_EQ(stopping.reason(), Reason::noise);
}

TEST(Stopping, OneNoisyCaseKeepsAllGoing) {
  std::vector<Drawn> drawn(2);
  Stopping stopping(Precision{.max_noise = 0.01, .time_limit_s = 1});
  const auto noisy = alternating(0.05);
  const auto found = counts(stopping, drawn, 1e-6, [&](std::size_t i) { return i == 0 ? 1e-3 : noisy(i); });
  EXPECT_EQ(found, (std::vector{6, 10, 15, 22, 33, 49, 73, 109, 163, 244, 366, 549, 823, Stopping::max_samples}));
  EXPECT_EQ(stopping.reason(), Reason::count);
}

TEST(Stopping, TheTimeIsKeptButForTheFirstBatch) {
  for (const auto& [round_s, last] : {std::pair(0.3, 6), {0.1, 10}, {0.09, 11}, {0.05, 20}, {0.002, 500}}) {
    std::vector<Drawn> drawn(1);
    Stopping stopping(Precision{.max_noise = 0.01, .time_limit_s = 1.0001});
    EXPECT_EQ(counts(stopping, drawn, round_s, alternating(0.1)).back(), last) << round_s;
    EXPECT_EQ(stopping.reason(), Reason::time) << round_s;
  }
}

TEST(Stopping, WhatFailedOrIsVeryLongIsNotWaitedFor) {
  std::vector<Drawn> drawn(3);
  Stopping stopping(Precision{});
  EXPECT_EQ(stopping.next(drawn, 0), 6);
  drawn[0].error = "broken";
  drawn[1].samples = {4, 5, 9};  // seconds: at most three
  drawn[2].samples.assign(6, 1e-3);
  EXPECT_EQ(stopping.next(drawn, 0.1), 4);
  drawn[2].samples.assign(10, 1e-3);
  EXPECT_EQ(stopping.next(drawn, 0.2), 0);
  EXPECT_EQ(stopping.reason(), Reason::noise);
  Stopping other(Precision{});
  EXPECT_EQ(other.next(drawn, 0), 6);
  drawn.pop_back();
  EXPECT_EQ(other.next(drawn, 0.1), 0);
  EXPECT_EQ(other.reason(), Reason::count);
}

/// Times of a busy machine: a few per cent of noise, and one in ten up to half as long again.
class Times {
 public:
  explicit Times(unsigned seed) : random_(seed) {}
  double operator()() {
    double normal = -6;
    for (int i = 0; i < 12; ++i) normal += uniform();
    return std::exp(0.03 * normal) * (uniform() < 0.1 ? 1 + uniform() / 2 : 1);
  }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 random_;
};

/// As the report does: the percentile bootstrap of a ratio of medians.
bool tells_apart(const std::vector<double>& a, const std::vector<double>& b, Times& random) {
  const auto drawn = [&random](const std::vector<double>& of) {
    std::vector<double> again;
    for (std::size_t i = 0; i < of.size(); ++i)
      again.push_back(of[static_cast<std::size_t>(random.uniform() * static_cast<double>(of.size()))]);
    return median(std::move(again));
  };
  std::vector<double> ratios;
  for (int i = 0; i < 400; ++i) ratios.push_back(drawn(a) / drawn(b));
  std::ranges::sort(ratios);
  return ratios[9] > 1 || ratios[390] < 1;
}

/// The share of false verdicts when one thing is measured twice, and stops by `stops`.
template <class Stops>
double false_verdicts(const Stops& stops) {
  constexpr int studies = 400;
  int found = 0;
  Times random(7);
  for (int study = 0; study < studies; ++study) {
    std::vector<Drawn> pair(2);
    stops(pair, random);
    found += tells_apart(pair[0].samples, pair[1].samples, random) ? 1 : 0;
  }
  return static_cast<double>(found) / studies;
}

TEST(Stopping, ANullTestComesOutAsOfAFixedNumber) {
  double samples = 0;
  const double by_width = false_verdicts([&](std::vector<Drawn>& pair, Times& random) {
    Stopping stopping(Precision{.max_noise = 0.015, .time_limit_s = 1});
    samples += counts(stopping, pair, 0, [&](std::size_t) { return random(); }).back() / 400.0;
  });
  const double fixed = false_verdicts([&](std::vector<Drawn>& pair, Times& random) {
    for (Drawn& one : pair) std::generate_n(std::back_inserter(one.samples), 40, std::ref(random));
  });
  // What looking at the verdict would do, in the same batches.
  const double by_verdict = false_verdicts([&](std::vector<Drawn>& pair, Times& random) {
    Stopping batches(Precision{.max_noise = 0, .time_limit_s = 1});
    while (const int more = batches.next(pair, 0)) {
      for (Drawn& one : pair) std::generate_n(std::back_inserter(one.samples), more, std::ref(random));
      if (pair[0].samples.size() > 100 || tells_apart(pair[0].samples, pair[1].samples, random)) break;
    }
  });
  EXPECT_GT(samples, 20) << "it does wait for something";
  EXPECT_LE(by_width, 0.06);          // 0.05, and a standard deviation of this simulation
  EXPECT_LE(by_width, fixed + 0.03);  // and two of the difference
  EXPECT_GE(by_verdict, 0.09) << "the simulation finds a bias where there is one";
  RecordProperty("false_by_width", std::to_string(by_width));
  RecordProperty("false_fixed", std::to_string(fixed));
  RecordProperty("false_by_verdict", std::to_string(by_verdict));
}

}  // namespace
}  // namespace league::bench
