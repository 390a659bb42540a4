// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>

#include "backends/runtime.hpp"

namespace league::bench {

/// Algorithms, methods and models, what this build can run on which devices, what it cannot and why.
void list(const Runtime& runtime, std::ostream& out, bool as_json);

}  // namespace league::bench
