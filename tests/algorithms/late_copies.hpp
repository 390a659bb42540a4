// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <deque>
#include <vector>

#include "algorithms/blocks/copies.hpp"

namespace league::blocks {

/// Copies that arrive as late as possible: in `wait`.
struct LateCopies : PlainCopies {
  struct Copy {
    Packet* to;
    const Packet* from;
  };
  static std::deque<std::vector<Copy>>& batches() {
    thread_local std::deque<std::vector<Copy>> of_thread(1);
    return of_thread;
  }
  /// @pre before the first copy of a thread
  static void reset() { batches().assign(1, {}); }
  static void copy(Packet* to, const Packet* from) { batches().back().push_back({to, from}); }
  static void close() { batches().emplace_back(); }
  template <int left>
  static void wait() {
    static_assert(left >= 0);
    for (; batches().size() > left + 1; batches().pop_front())
      for (const Copy& copy : batches().front()) *copy.to = *copy.from;
  }
};

}  // namespace league::blocks
