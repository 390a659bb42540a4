// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "backends/portable.hpp"

namespace league::blocks {

/// Copies of 16 bytes into scratch: a thread starts some, closes a batch, and later waits until only the last `left`
/// batches may be under way. Through registers: done when the call returns.
struct PlainCopies {
  using Packet = Pack<unsigned, 16>;
  LEAGUE_FUNCTION static void copy(Packet* to, const Packet* from) { *to = *from; }
  LEAGUE_FUNCTION static void close() {}
  template <int left>
  LEAGUE_FUNCTION static void wait() {}
};

}  // namespace league::blocks
