// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "backends/runtime.hpp"

namespace league::bench {

/// The launches that a search tries: the same for every variant on a device. A variant refuses what it cannot do.
struct Grid {
  /// Powers of two of team and vector, the most common first; league and tile are left to the method.
  std::vector<Launch> teams;
  /// Leagues of whole waves of the device's multiprocessors or threads; on a host also fewer teams than threads.
  std::vector<int> leagues;
};

/// `units`: multiprocessors of a GPU, threads of a host device.
Grid make_grid(DeviceKind kind, int units);

/// Multiprocessors of a GPU, threads of a host device.
int units_of(const Runtime& runtime, const Device& device);

/// A quarter, half, twice and four times a method's own tile; empty where it has none.
std::vector<int> tiles_around(int tile);

}  // namespace league::bench
