// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>

#include "backends/runtime.hpp"

namespace league::bench {

/// Algorithms, methods and models, which of them run here on which devices; of the others, the reason.
void list(const Runtime& runtime, std::ostream& out, bool as_json);

}  // namespace league::bench
