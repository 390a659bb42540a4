// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos {

/// Puts a kernel on the queue: at once, or, on a host that records, whenever the graph is launched.
/// (A GPU's runtime records by itself: copies of policies and kernels would cost a launch-bound step 5 % there.)
template <class Policy, class Kernel>
void submit(Queue& queue, const char* label, const Policy& policy, const Kernel& kernel) {
  if constexpr (on_gpu)
    Kokkos::parallel_for(label, policy, kernel);
  else
    queue.submit([label, policy, kernel] { Kokkos::parallel_for(label, policy, kernel); });
}

}  // namespace league::kokkos
