// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/portable.hpp"

namespace league::ceilings {

/// Calls `body.operator()<count>(p)` for the packs p, p + lanes, ... that a lane takes of a chunk: `at_once` of them as
/// long as there are so many, so that all their loads are in flight before the first is needed, then one by one.
template <int at_once, class Body>
LEAGUE_FUNCTION void for_packs(int lane, int lanes, int packs, const Body& body) {
  int p = lane;
  for (; p + (at_once - 1) * lanes < packs; p += at_once * lanes) body.template operator()<at_once>(p);
  for (; p < packs; p += lanes) body.template operator()<1>(p);
}

}  // namespace league::ceilings
