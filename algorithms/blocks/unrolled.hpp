// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "backends/portable.hpp"

namespace league::blocks {

/// Calls `body(0)` to `body(n - 1)`, a sequence instead of a loop: unrolled for sure, so that arrays stay in registers.
template <int n, class Body>
LEAGUE_FUNCTION void unrolled(const Body& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (body(i), ...); }(std::make_integer_sequence<int, n>{});
}

}  // namespace league::blocks
