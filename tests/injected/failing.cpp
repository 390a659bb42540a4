// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

// A library that stands before the C library (LD_PRELOAD) and lets one call fail: LEAGUE_FAIL="write:17" the 17th of
// its kind in main, "write@00f3..." the first of a call stack. With LEAGUE_CALLS=FILE it fails none, and writes there a
// line for every new call stack, "write 17 00f3...": the kind, the number of the call, the stack.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* data, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

enum Kind : std::size_t { allocation, writing, renaming, syncing, forking, receiving, kinds };
constexpr std::array<const char*, kinds> names{"allocation", "write", "rename", "fsync", "fork", "receive"};

thread_local bool inside = false;  // what this library itself calls is left alone

/// What is to fail; filled in before main.
struct Wanted {
  Kind kind = kinds;
  long number = 0;
  std::uint64_t stack = 0;
  int log = -1;
  std::array<std::atomic<long>, kinds> calls{};
  std::set<std::uint64_t>* seen = nullptr;
  std::atomic_flag locked;
};
Wanted wanted;
std::atomic<bool> ready = false;

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

void note(Kind kind, long number) {
  const std::uint64_t stack = stack_of();
  while (wanted.locked.test_and_set()) {
  }
  if (wanted.seen->insert(stack).second) {
    std::array<char, 80> line{};
    const int size = std::snprintf(line.data(), line.size(), "%s %ld %016llx\n", names[kind], number,
                                   static_cast<unsigned long long>(stack));
    static const auto real = reinterpret_cast<ssize_t (*)(int, const void*, std::size_t)>(dlsym(RTLD_NEXT, "write"));
    static_cast<void>(real(wanted.log, line.data(), static_cast<std::size_t>(size)));
  }
  wanted.locked.clear();
}

/// Whether the call of this kind that is being made is the one to fail.
bool fails(Kind kind) {
  if (inside || !ready) return false;
  inside = true;
  const long number = ++wanted.calls[kind];
  if (wanted.log >= 0) note(kind, number);
  bool now = wanted.kind == kind && wanted.number == number;
  if (wanted.kind == kind && wanted.stack != 0 && stack_of() == wanted.stack) {
    now = true;
    wanted.stack = 0;
  }
  inside = false;
  return now;
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
  const char* text = std::getenv("LEAGUE_FAIL");
  for (std::size_t kind = 0; text != nullptr && kind < kinds; ++kind) {
    const std::size_t size = std::strlen(names[kind]);
    if (std::strncmp(text, names[kind], size) != 0) continue;
    wanted.kind = static_cast<Kind>(kind);
    if (text[size] == ':') wanted.number = std::atol(text + size + 1);
    if (text[size] == '@') wanted.stack = std::strtoull(text + size + 1, nullptr, 16);
  }
  unsetenv("LEAGUE_CALLS");  // of this process only
  unsetenv("LEAGUE_FAIL");
  unsetenv("LD_PRELOAD");
  inside = false;
}

template <class Result>
Result failed(int error, Result result) {
  errno = error;
  return result;
}

template <class Function>
Function real(const char* name) {
  inside = true;
  const auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  inside = false;
  return found;
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

extern "C" {

int __libc_start_main(Main main, int count, char** arguments, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  own_main = main;
  return real<Start>("__libc_start_main")(watched_main, count, arguments, init, fini, rtld_fini, stack_end);
}

void* malloc(std::size_t size) { return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) {
  return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_calloc(count, size);
}
void* realloc(void* data, std::size_t size) {
  return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_realloc(data, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(allocation) ? failed<void*>(ENOMEM, nullptr) : __libc_memalign(alignment, size);
}
int posix_memalign(void** data, std::size_t alignment, std::size_t size) {
  *data = fails(allocation) ? nullptr : __libc_memalign(alignment, size);
  return *data == nullptr ? ENOMEM : 0;
}

ssize_t write(int file, const void* data, std::size_t size) {
  static const auto next = real<ssize_t (*)(int, const void*, std::size_t)>("write");
  return fails(writing) ? failed<ssize_t>(ENOSPC, -1) : next(file, data, size);
}
int rename(const char* from, const char* to) {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return fails(renaming) ? failed(EIO, -1) : next(from, to);
}
int fsync(int file) {
  static const auto next = real<int (*)(int)>("fsync");
  return fails(syncing) ? failed(EIO, -1) : next(file);
}
pid_t fork() {
  static const auto next = real<pid_t (*)()>("fork");
  return fails(forking) ? failed<pid_t>(EAGAIN, -1) : next();
}
ssize_t recv(int socket, void* data, std::size_t size, int flags) {
  static const auto next = real<ssize_t (*)(int, void*, std::size_t, int)>("recv");
  return fails(receiving) ? failed<ssize_t>(ECONNRESET, -1) : next(socket, data, size, flags);
}
}
