// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/peers/reported_time.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace league::bench {
namespace {

constexpr double min_time_s = 1e-9;
constexpr double clock_tolerance = 1.01;  // of the clocks of a GPU and of the host
constexpr double largest_ratio = 10;
constexpr double min_look_s = 0.02,
                 max_look_s = 0.05;  // a call itself may take milliseconds on a busy machine
constexpr int max_looks = 20;

std::string text(double seconds) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.4g s", seconds);
  return digits.data();
}

template <class Error = std::runtime_error>
[[noreturn]] void refuse(double seconds, const std::string& why) {
  throw Error("it reports " + text(seconds) + " for a compute" + why);
}

}  // namespace

double ReportedTime::require(double seconds, int count, double call_s) {
  if (!(seconds >= (case_.idle ? 0 : min_time_s))) refuse(seconds, ", less than a nanosecond");
  if (seconds * count > clock_tolerance * call_s)
    refuse(seconds, ", and the call with " + std::to_string(count) + " of them took " + text(call_s));
  const bool agrees = seconds * count * largest_ratio >= call_s || seconds * largest_ratio >= seen_s_;
  if (!agrees && !case_.idle) look_again(seconds);
  return seconds;
}

/// Computes until the host's clock here agrees. On a GPU only the time after the last launch counts: the device is busy
/// all that time, while launches may take longer than the work. Twenty attempts outlast a pause of the machine.
void ReportedTime::look_again(double seconds) {
  for (int count = 1, looks = 0; looks < max_looks;) {
    const auto [queued_s, waited_s] = case_.look(count);
    const double busy_s = case_.kind == DeviceKind::gpu ? waited_s : queued_s + waited_s;
    if (busy_s >= min_look_s) {
      seen_s_ = std::min(seen_s_, busy_s / count);
      if (seconds * largest_ratio >= seen_s_) return;
      ++looks;
    } else if (case_.one_at_a_time || queued_s + waited_s >= max_look_s) {
      seen_s_ = 0;
      return;
    } else {
      count *= 2;
      looks = 0;
    }
  }
  refuse<Disagreement>(seconds, ", and one takes " + text(seen_s_) + " as seen from here");
}

}  // namespace league::bench
