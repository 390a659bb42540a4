// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/runtime.hpp"

namespace league::tests {

/// A double that one kernel sends and a later one receives, as in backends/cuda/wait.hpp.
using SendAndReceive = double (*)(Queue&, double sent);
/// Waits for what nobody sends, for a tenth of a second. @throws std::runtime_error: its trap
using WaitInVain = void (*)(Queue&);

/// For GPUs; null where this build has no CUDA.
struct WaitProbe {
  SendAndReceive send_and_receive = nullptr;
  WaitInVain wait_in_vain = nullptr;
};
WaitProbe& wait_probe_on_gpu();

}  // namespace league::tests
