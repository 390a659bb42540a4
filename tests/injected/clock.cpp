// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/time.h>

#include <cstdlib>
#include <ctime>

#include "tests/injected/failing.hpp"

// Clocks that jump. The monotonic one does so nowhere but where a machine was stopped, and is moved all the same.
namespace league::injected {
namespace {

long jump_s() {
  static const long seconds = [] {
    const char* text = std::getenv("LEAGUE_JUMP");
    return text == nullptr ? 0 : std::atol(text);
  }();
  return seconds;
}

Kind kind_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      return realtime;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return monotonic;
    default:
      return kinds;
  }
}

}  // namespace
}  // namespace league::injected

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  using namespace league::injected;
  static const auto next = real<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int code = next(clock, now);
  const Kind kind = kind_of(clock);
  if (code == 0 && kind != kinds && fails(kind)) now->tv_sec += jump_s();
  return code;
}
time_t time(time_t* seconds) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds != nullptr) *seconds = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec precise{};
  const int code = clock_gettime(CLOCK_REALTIME, &precise);
  *now = {precise.tv_sec, precise.tv_nsec / 1000};
  return code;
}
}
