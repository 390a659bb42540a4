// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "tests/fibers.hpp"

namespace league::tests {

/// Calls `body(group)` on all threads of a team of `size` fibers.
template <class Body>
void run_fiber_team(int size, const Body& body) {
  FiberBarrier all(size);
  run_fibers(size, [&](int rank) { body(blocks::group_of(rank, size, [&all] { all.arrive_and_wait(); })); });
}

}  // namespace league::tests
