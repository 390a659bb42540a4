// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "backends/runtime.hpp"
#include "bench/study/settings.hpp"

namespace league::bench {

/// Replaces sizes such as `{ n = { memory_share = 0.1 } }` by integers: an array of n values takes this share of the
/// memory of the smallest GPU, without GPUs of the host; n is rounded down to a multiple of 1,024. A table of several
/// types becomes one of each type.
/// @throws BadInput naming place and key
std::vector<Settings> resolve_memory_shares(const Settings& table, const Runtime& runtime);

}  // namespace league::bench
