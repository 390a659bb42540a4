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

/// combine(x, y), element by element.
template <class Combine, class Pack>
LEAGUE_FUNCTION Pack combined(const Combine& combine, const Pack& x, const Pack& y) {
  Pack values;
  for (int i = 0; i < Pack::size; ++i) values.values[i] = combine(x.values[i], y.values[i]);
  return values;
}

struct Add {
  template <class T>
  LEAGUE_FUNCTION T operator()(T x, T y) const {
    return static_cast<T>(x + y);
  }
};
struct Triad {
  template <class T>
  LEAGUE_FUNCTION T operator()(T x, T y) const {
    return x + triad_factor * y;
  }
};

}  // namespace league::ceilings
