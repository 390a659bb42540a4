// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/backend.hpp"

namespace league::bench {

/// Splits rows 0 ... rows-1 over devices, as evenly as can be: the remainder goes to the first devices, one row each.
/// With fewer rows than devices the last shards are empty.
std::vector<Shard> partition(std::int64_t rows, std::span<const Device> devices);

}  // namespace league::bench
