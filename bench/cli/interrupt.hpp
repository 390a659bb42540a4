// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace league::bench {

/// Handles SIGINT (Ctrl-C), SIGTERM and SIGHUP during its lifetime. Construct it before any other thread starts, so
/// that all threads block these signals. If the run does not stop in time, or a second signal comes, the process ends
/// at once: records are always complete files. Signals within half a second count as one: a terminal, `timeout` or a
/// batch system signals both this process and its parent, which passes the signal on.
class InterruptWatch {
 public:
  InterruptWatch();
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  /// Whether a signal has come.
  [[nodiscard]] bool requested() const { return requested_; }
  /// @throws Interrupted once a signal has come
  void check() const;

 private:
  void listen();
  sigset_t signals_{}, before_{};
  std::atomic<bool> requested_ = false, finished_ = false;
  std::thread listener_;
};

}  // namespace league::bench
