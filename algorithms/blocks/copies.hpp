// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "backends/portable.hpp"

namespace league::blocks {

/// Asynchronous copies of 16 bytes into scratch, in batches: `close` commits one, `wait<left>` waits until at most the
/// last `left` are pending. This one is synchronous, through registers.
struct PlainCopies {
  using Packet = Pack<unsigned, 16>;
  LEAGUE_FUNCTION static void copy(Packet* to, const Packet* from) { *to = *from; }
  LEAGUE_FUNCTION static void close() {}
  template <int left>
  LEAGUE_FUNCTION static void wait() {}
};

}  // namespace league::blocks
