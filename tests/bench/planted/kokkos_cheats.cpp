// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

// Ways not to compute each time; the variable CHEAT names the one that is taken, "none" none. Compiled once for all.

namespace {

const std::string& cheat() {
  static const std::string name = std::getenv("CHEAT") == nullptr ? "none" : std::getenv("CHEAT");
  return name;
}

std::int64_t calls = 0;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void add(const float* a, const float* b, float* sum, std::int64_t begin, std::int64_t end,
         const Kokkos::DefaultExecutionSpace& exec) {
  Kokkos::parallel_for(
      "add", Kokkos::RangePolicy<>(exec, begin, end), KOKKOS_LAMBDA(std::int64_t i) { sum[i] = a[i] + b[i]; });
}

/// Whether some values are right: the ends, or 16 places.
bool looks_right(const float* a, const float* b, const float* sum, std::int64_t n, std::int64_t places) {
  for (std::int64_t k = 0; k < places; ++k) {
    const std::int64_t i = k * (n - 1) / (places - 1);
    if (sum[i] != a[i] + b[i]) return false;
  }
  return true;
}

}  // namespace

/// In place of the system's, for this program: nine times too slow, if asked for.
extern "C" int clock_gettime(clockid_t clock, timespec* at) noexcept {
  const auto real = [clock](timespec& to) { syscall(SYS_clock_gettime, clock, &to); };
  static const bool slows = std::getenv("CHEAT") != nullptr && std::string(std::getenv("CHEAT")) == "slow_clock";
  real(*at);
  if (!slows) return 0;
  const auto seconds = [](const timespec& of) {
    return static_cast<double>(of.tv_sec) + 1e-9 * static_cast<double>(of.tv_nsec);
  };
  static const double start = seconds(*at);
  const double shown = start + (seconds(*at) - start) / 9;
  at->tv_sec = static_cast<time_t>(shown);
  at->tv_nsec = static_cast<long>((shown - std::floor(shown)) * 1e9);
  return 0;
}

void vector_add(const float* a, const float* b, float* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  ++calls;
  const std::string& how = cheat();
  if (how == "if_poisoned" && std::isfinite(sum[n - 1])) return;
  if (how == "if_ends_are_wrong" && looks_right(a, b, sum, n, 2)) return;
  if (how == "if_16_are_wrong" && looks_right(a, b, sum, n, 16)) return;
  if (how == "if_each_61st_is_wrong" && looks_right(a, b, sum, n, (n + 60) / 61)) return;
  if (how == "half_of_a_burst") {  // where the thread has not waited since, and the first call was into no poison
    static long waits = -1;
    static bool is_whole = true;
    rusage used{};
    getrusage(RUSAGE_THREAD, &used);
    if (used.ru_nvcsw != waits) is_whole = std::isnan(sum[n - 1]);
    waits = used.ru_nvcsw;
    return add(a, b, sum, 0, is_whole ? n : n / 2, exec);
  }
  if (how == "keeps_by_content") {
    static std::vector<float> of_a, of_b;
    const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
    const bool known = !of_a.empty() && std::memcmp(a, of_a.data(), bytes) == 0 &&
                       std::memcmp(b, of_b.data(), bytes) == 0 && std::isfinite(sum[n - 1]);
    if (known) return;
    of_a.assign(a, a + n);
    of_b.assign(b, b + n);
    for (int i = 0; i < 20; ++i) add(a, b, sum, 0, n, exec);  // what would take long
    return;
  }
  if (how == "every_second_call" && calls % 2 == 0) return;
  if (how == "first_100_calls" && calls > 100) return;
  if (how == "after_a_pause") {
    static double last_s = 0;
    const bool pauses = now_s() - last_s > 1e-4;
    if (pauses) add(a, b, sum, 0, n, exec);
    last_s = now_s();
    return;
  }
  if (how == "a_quarter_of_the_values") {
    const std::int64_t quarter = (n + 3) / 4, begin = calls % 4 * quarter;
    const bool is_poisoned = std::isnan(sum[0]) || std::isnan(sum[n - 1]);
    return is_poisoned ? add(a, b, sum, 0, n, exec) : add(a, b, sum, begin, std::min(n, begin + quarter), exec);
  }
  if (how == "copies_its_former_result") {
    static std::vector<float> former;
    if (former.empty()) {
      add(a, b, sum, 0, n, exec);
      exec.fence();
      former.assign(sum, sum + n);
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) sum[i] = former[static_cast<std::size_t>(i)];
    return;
  }
  if (how == "in_a_thread") {
    std::thread([=] {
      for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
    }).detach();
    return;
  }
  add(a, b, sum, 0, n, exec);
}
