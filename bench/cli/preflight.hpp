// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "backends/runtime.hpp"

namespace league::bench {

/// What may disturb the measurement, a sentence each: unbound threads, a busy machine, shared or throttled devices.
std::vector<std::string> preflight(const Runtime& runtime);

}  // namespace league::bench
