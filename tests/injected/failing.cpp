// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/injected/failing.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

namespace league::injected {
namespace {

constexpr std::array<const char*, kinds> names{"allocation", "write",   "rename", "fsync",    "fork",     "receive",
                                               "cuda",       "illegal", "peers",  "realtime", "monotonic"};

thread_local bool inside = false;  // what this library itself calls is left alone
std::atomic<bool> ready = false;   // in main

/// One call, of a text such as "write:17", "write:17+" or "write@00f3...".
struct Place {
  Kind kind = kinds;
  long number = 0;
  bool later_too = false;
  std::uint64_t stack = 0;
};

/// What is to happen; filled in before main.
struct Wanted {
  Place fail, kill;
  int log = -1;
  std::array<std::atomic<long>, kinds> calls{};
  std::set<std::uint64_t>* seen = nullptr;
  std::atomic_flag locked;
};
Wanted wanted;

/// Of the call stack: where in which file each call is, so that it is the same in every process.
std::uint64_t stack_of() {
  std::array<void*, 12> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (int i = 2; i < count; ++i) {
    Dl_info info{};
    if (dladdr(frames[static_cast<std::size_t>(i)], &info) == 0) continue;
    hash ^= static_cast<std::uint64_t>(static_cast<char*>(frames[static_cast<std::size_t>(i)]) -
                                       static_cast<char*>(info.dli_fbase));
    hash *= 0x100000001b3U;
  }
  return hash;
}

void log_line(const char* first, const char* second, long number, std::uint64_t stack) {
  std::array<char, 80> line{};
  const int size = stack == 0 ? std::snprintf(line.data(), line.size(), "%s %s %ld\n", first, second, number)
                              : std::snprintf(line.data(), line.size(), "%s %ld %016llx\n", first, number,
                                              static_cast<unsigned long long>(stack));
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  static_cast<void>(next(wanted.log, line.data(), static_cast<std::size_t>(size)));
}

void note(Kind kind, long number) {
  const std::uint64_t stack = stack_of();
  while (wanted.locked.test_and_set()) {
  }
  if (wanted.seen->insert(stack).second) log_line(names[kind], "", number, stack);
  wanted.locked.clear();
}

bool is_here(Place& place, Kind kind, long number) {
  if (place.kind != kind) return false;
  if (place.stack != 0 && stack_of() == place.stack) {
    place.stack = 0;
    return true;
  }
  return place.number > 0 && (place.number == number || (place.later_too && place.number < number));
}

Place read_place(const char* text) {
  Place place;
  for (std::size_t kind = 0; text != nullptr && kind < kinds; ++kind) {
    const std::size_t size = std::strlen(names[kind]);
    if (std::strncmp(text, names[kind], size) != 0) continue;
    place.kind = static_cast<Kind>(kind);
    if (text[size] == ':') place.number = std::atol(text + size + 1);
    if (text[size] == '@') place.stack = std::strtoull(text + size + 1, nullptr, 16);
    place.later_too = text[std::strlen(text) - 1] == '+';
  }
  return place;
}

__attribute__((constructor)) void begin() {
  inside = true;
  std::array<void*, 2> frames{};
  backtrace(frames.data(), 2);  // loads what it needs
  if (const char* file = std::getenv("LEAGUE_CALLS")) {
    wanted.seen = new std::set<std::uint64_t>();
    std::FILE* opened = std::fopen(file, "a");
    wanted.log = opened == nullptr ? -1 : fileno(opened);
  }
  wanted.fail = read_place(std::getenv("LEAGUE_FAIL"));
  wanted.kill = read_place(std::getenv("LEAGUE_KILL"));
  for (const char* variable : {"LEAGUE_CALLS", "LEAGUE_FAIL", "LEAGUE_KILL", "LD_PRELOAD"}) unsetenv(variable);
  inside = false;
}

__attribute__((destructor)) void end() {
  inside = true;
  for (std::size_t kind = 0; wanted.log >= 0 && kind < kinds; ++kind)
    log_line("total", names[kind], wanted.calls[kind], 0);
}

using Main = int (*)(int, char**, char**);
Main own_main = nullptr;

/// Errors before that cannot be reported.
int watched_main(int count, char** arguments, char** environment) {
  ready = true;
  const int code = own_main(count, arguments, environment);
  ready = false;
  return code;
}

}  // namespace

bool fails(Kind kind) {
  if (inside || !ready) return false;
  inside = true;
  const long number = ++wanted.calls[kind];
  if (wanted.log >= 0) note(kind, number);
  if (is_here(wanted.kill, kind, number)) std::raise(SIGKILL);
  const bool now = is_here(wanted.fail, kind, number);
  inside = false;
  return now;
}

void* next_of(const char* name) {
  const bool was_inside = inside;
  inside = true;
  void* found = dlsym(RTLD_NEXT, name);
  inside = was_inside;
  return found;
}

}  // namespace league::injected

extern "C" {

/// For calls of libraries that are linked into the executable (cuda_calls.cu).
int league_injected_fails(int kind) {
  return league::injected::fails(static_cast<league::injected::Kind>(kind)) ? 1 : 0;
}

int __libc_start_main(league::injected::Main main, int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  using Start = int (*)(league::injected::Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  league::injected::own_main = main;
  return league::injected::real<Start>("__libc_start_main")(league::injected::watched_main, count, arguments, init,
                                                            fini, rtld_fini, stack_end);
}
}
