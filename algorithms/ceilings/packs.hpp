// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/ceilings/ceilings.hpp"

namespace league::ceilings {

/// Calls `body.operator()<count>(p)` for a lane's packs p, p + lanes, ... of a chunk: `at_once` at a time, so that
/// their loads are in flight together, then the tail one by one.
template <int at_once, class Body>
LEAGUE_FUNCTION void for_packs(int lane, int lanes, int packs, const Body& body) {
  int p = lane;
  for (; p + (at_once - 1) * lanes < packs; p += at_once * lanes) body.template operator()<at_once>(p);
  for (; p < packs; p += lanes) body.template operator()<1>(p);
}

/// What `add` and `triad` store, of elements and of packs of them.
struct Add {
  template <class Values>
  LEAGUE_FUNCTION Values operator()(const Values& x, const Values& y) const {
    return static_cast<Values>(x + y);
  }
};
struct Triad {
  template <class Values>
  LEAGUE_FUNCTION Values operator()(const Values& x, const Values& y) const {
    return x + triad_factor * y;
  }
};

}  // namespace league::ceilings
