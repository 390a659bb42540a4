// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/interrupt.hpp"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <string_view>

#include "bench/errors.hpp"

namespace league::bench {
namespace {

constexpr auto patience = std::chrono::seconds(3);

void say(std::string_view text) { static_cast<void>(!write(STDERR_FILENO, text.data(), text.size())); }

}  // namespace

InterruptWatch::InterruptWatch() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
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
  auto deadline = std::chrono::steady_clock::time_point::max();
  while (!finished_) {
    const timespec wait{0, 50'000'000};
    const bool signalled = sigtimedwait(&signals_, nullptr, &wait) > 0;
    const auto now = std::chrono::steady_clock::now();
    if (signalled && !requested_) {
      say("\nleague: interrupted; what is recorded stays\n");
      requested_ = true;
      deadline = now + patience;
    } else if (signalled || now > deadline) {
      _exit(static_cast<int>(ExitCode::interrupted));
    }
  }
}

}  // namespace league::bench
