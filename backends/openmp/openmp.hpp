// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "backends/runtime.hpp"

namespace league::openmp {

inline constexpr Model model{"openmp", "openmp", DeviceKind::host};

/// Threads of a launch: its league size, one thread per team, at most those of the queue's device.
inline int threads(const Queue& queue, Launch launch) {
  return launch.league > 0 ? std::min(launch.league, queue.device().threads) : queue.device().threads;
}
}  // namespace league::openmp
