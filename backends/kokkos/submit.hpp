// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos {

/// Submits a kernel: at once, or, on a host that records, at every launch of the graph. (GPU streams are captured by
/// the runtime; copying policies and kernels would cost 5 % in a launch-bound step.)
template <class Policy, class Kernel>
void submit(Queue& queue, const char* label, const Policy& policy, const Kernel& kernel) {
  if constexpr (on_gpu)
    Kokkos::parallel_for(label, policy, kernel);
  else
    queue.submit([label, policy, kernel] { Kokkos::parallel_for(label, policy, kernel); });
}

}  // namespace league::kokkos
