// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/portable.hpp"

namespace league::blocks {

/// `value`, which a compiler takes to depend on `index`: what follows from it is computed for each index of a loop, and
/// not once and kept in registers, where those are few. @pre 0 <= index < 2^62
LEAGUE_FUNCTION int recomputed(int value, std::int64_t index) { return value + static_cast<int>(index >> 62); }

}  // namespace league::blocks
