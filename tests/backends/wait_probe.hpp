// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/runtime.hpp"

namespace league::tests {

/// Sends a double from one kernel to a later one, by backends/cuda/wait.hpp.
using SendAndReceive = double (*)(Queue&, double sent);
/// Waits a tenth of a second for a word that is never sent. @throws std::runtime_error: its trap
using WaitInVain = void (*)(Queue&);

/// For GPUs; null in builds without CUDA.
struct WaitProbe {
  SendAndReceive send_and_receive = nullptr;
  WaitInVain wait_in_vain = nullptr;
};
WaitProbe& wait_probe_on_gpu();

}  // namespace league::tests
