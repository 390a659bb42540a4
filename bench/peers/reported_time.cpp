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
constexpr double least_of_seen = 0.8;     // that the peer's clock shows of a time seen here
constexpr double largest_ratio = 10;      // of a compute in a long batch to one in a sample
constexpr double min_look_s = 0.05;       // a call itself may take milliseconds on a busy machine
constexpr double min_wait_s = 0.02;       // after the launches: a GPU takes about a thousand ahead
constexpr double max_launches_s = 0.2;    // of a GPU whose work ends with its launches
constexpr int max_looks = 20, max_count = 1 << 28;

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
  const bool agrees = seconds * count >= least_of_seen * call_s || seconds >= least_of_seen * seen_s_;
  if (!agrees && !case_.idle) look_again(seconds);
  return seconds;
}

/// Computes until the host's clock here agrees. On a GPU only the time after the last launch counts for one compute:
/// the device is busy all that time, while launches may take longer than the work. Twenty attempts outlast a pause of
/// the machine.
void ReportedTime::look_again(double seconds) {
  double whole_s = 0, reported_s = 0;
  for (int count = 1, looks = 0; looks < max_looks;) {
    const Look look = case_.look(count);
    const bool on_gpu = case_.kind == DeviceKind::gpu;
    whole_s = look.queued_s + look.waited_s;
    reported_s = look.reported_s;
    const double busy_s = on_gpu ? look.waited_s : whole_s;
    const bool is_long = busy_s >= (on_gpu ? min_wait_s : min_look_s);
    if (!is_long && whole_s < max_launches_s) {
      if (case_.one_at_a_time || count > max_count / 2) {
        seen_s_ = 0;
        return;
      }
      count *= 2;
      looks = 0;
      continue;
    }
    ++looks;
    if (reported_s < least_of_seen * whole_s) continue;
    seen_s_ = std::min(seen_s_, is_long ? busy_s / count : 0);
    if (seconds * largest_ratio >= seen_s_) return;
  }
  if (reported_s < least_of_seen * whole_s)
    refuse<Disagreement>(seconds, ", and " + text(reported_s) + " for computes that took " + text(whole_s) +
                                      " as seen from here: its clock is too slow");
  refuse<Disagreement>(seconds, ", and one takes " + text(seen_s_) + " as seen from here");
}

}  // namespace league::bench
