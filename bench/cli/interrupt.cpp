// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/cli/interrupt.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <string_view>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

constexpr auto timeout = std::chrono::seconds(3);
constexpr auto same_request = std::chrono::milliseconds(500);

bool is_ignored(int signal) {
  struct sigaction action{};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

void say(std::string_view text) { static_cast<void>(!write(STDERR_FILENO, text.data(), text.size())); }

}  // namespace

InterruptWatch::InterruptWatch() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  if (!is_ignored(SIGHUP)) sigaddset(&signals_, SIGHUP);  // nohup ignores it
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  listener_ = std::thread([this] { listen(); });
}

InterruptWatch::~InterruptWatch() {
  finished_ = true;
  listener_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void InterruptWatch::check() const {
  if (requested_) throw Interrupted();
}

void InterruptWatch::listen() {
  std::chrono::steady_clock::time_point first;
  while (!finished_) {
    const timespec wait{0, 50'000'000};
    const bool signalled = sigtimedwait(&signals_, nullptr, &wait) > 0;
    const auto now = std::chrono::steady_clock::now();
    if (signalled && !requested_) {
      say("\nleague: interrupted; what is recorded stays\n");
      requested_ = true;
      first = now;
    } else if (requested_ && now > first + (signalled ? same_request : timeout)) {
      _exit(static_cast<int>(ExitCode::interrupted));
    }
  }
}

}  // namespace league::bench
