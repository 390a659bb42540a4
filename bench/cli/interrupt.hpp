// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace league::bench {

/// Listens for Ctrl-C (SIGINT), SIGTERM and SIGHUP from its making to its end. Make it before any other thread starts,
/// so that these signals reach nobody else. Records are whole at any time; so, should the work at hand not come to a
/// point where it can stop, or the user insist, the process ends where it is. Signals within half a second are one
/// request: a terminal, `timeout` or a batch system signals this process and its parent, which passes the signal on.
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
