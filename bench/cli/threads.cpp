// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/threads.hpp"

#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <latch>
#include <system_error>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

constexpr std::int64_t least_stack = std::int64_t{256} << 10;  // 16 KiB are overflowed by small matrices

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// The number that a text begins with, and what follows; 0: none.
std::pair<std::int64_t, std::string> number_in(const std::string& text) {
  char* rest = nullptr;
  const std::int64_t number = std::strtoll(text.c_str(), &rest, 10);
  return {number, rest};
}

/// What OMP_STACKSIZE says, "2000500B", "10 M", in KiB without a unit; 0: nothing.
std::int64_t asked_stack() {
  auto [number, unit] = number_in(value_of("OMP_STACKSIZE"));
  std::erase_if(unit, [](unsigned char letter) { return std::isspace(letter) != 0; });
  const char letter = unit.empty() ? 'K' : static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
  const std::size_t power = std::string("BKMG").find(letter);
  return power == std::string::npos || number >> 33 != 0 ? 0 : number << (10 * power);
}

/// Of the main thread.
std::int64_t main_stack() {
  rlimit limit{};
  return getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > INT64_MAX ? INT64_MAX
                                                                            : static_cast<std::int64_t>(limit.rlim_cur);
}

void* wait_for_all(void* all) {
  static_cast<std::latch*>(all)->wait();
  return nullptr;
}

/// The error of the first thread that could not be started beside this one.
int start_and_end(int count, std::int64_t stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack > 0) pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(stack));
  std::latch all(1);
  std::vector<pthread_t> started;
  int error = 0;
  for (pthread_t thread{}; error == 0 && static_cast<int>(started.size()) < count;) {
    error = pthread_create(&thread, &attributes, wait_for_all, &all);
    if (error == 0) started.push_back(thread);
  }
  all.count_down();
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return error;
}

void require_stack(std::int64_t bytes, const std::string& setting, const std::string& threads) {
  if (bytes > 0 && bytes < least_stack)
    throw BadInput(setting + " leaves " + threads + " a stack of " + std::to_string(bytes >> 10) +
                   " KiB, and kernels take up to " + std::to_string(least_stack >> 10) + ": raise or unset it");
}

}  // namespace

void require_startable_threads() {
  const int threads = std::min(omp_get_max_threads(), omp_get_thread_limit());
  const int most = std::max(4096, 4 * omp_get_num_procs());
  if (threads > most)
    throw BadInput("OMP_NUM_THREADS asks for " + std::to_string(threads) + " threads, and up to " +
                   std::to_string(most) + " can be started: set it to the " + std::to_string(omp_get_num_procs()) +
                   " processors here, or unset it");
  const std::int64_t stack = asked_stack();
  require_stack(stack, "OMP_STACKSIZE=" + value_of("OMP_STACKSIZE"), "threads");
  require_stack(main_stack(), "ulimit -s", "the main thread");
  if (const int error = start_and_end(threads - 1, stack); error != 0)
    throw BadInput("OpenMP cannot start its " + std::to_string(threads) + " threads (" +
                   std::generic_category().message(error) +
                   "): lower OMP_NUM_THREADS, or raise what limits them: ulimit -u, pids.max of the control group, "
                   "ulimit -v with the stacks that OMP_STACKSIZE and ulimit -s ask for");
}

std::vector<std::string> thread_faults(int threads) {
  std::vector<std::string> found;
  const std::string asked = value_of("OMP_NUM_THREADS");
  const std::int64_t number = number_in(asked).first;
  if (!asked.empty() && number <= 0)
    found.push_back("OMP_NUM_THREADS=" + asked + " is no number of threads, and OpenMP ignores it: all models have " +
                    std::to_string(threads));
  const std::int64_t wanted = number > 0 ? number : omp_get_num_procs();
  if (threads < wanted)
    found.push_back(std::to_string(threads) + " of " + std::to_string(wanted) +
                    (number > 0 ? " threads that OMP_NUM_THREADS asks for" : " possible threads") +
                    ": unset OMP_THREAD_LIMIT and OMP_MAX_ACTIVE_LEVELS");
  return found;
}

}  // namespace league::bench
