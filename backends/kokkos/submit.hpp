// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos {

/// Puts a kernel on the queue: at once, or, on a host that records, whenever the graph is launched.
template <class Policy, class Kernel>
void submit(Queue& queue, const char* label, const Policy& policy, const Kernel& kernel) {
  queue.submit([label, policy, kernel] { Kokkos::parallel_for(label, policy, kernel); });
}

}  // namespace league::kokkos
