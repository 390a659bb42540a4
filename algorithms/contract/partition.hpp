// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/backend.hpp"

namespace league {

/// Splits rows 0 ... rows-1 over `devices` shards in each of `processes` processes, as evenly as can be: the remainder
/// goes to the first shards, one row each. With fewer rows than shards the last ones are empty. `process`: this one.
/// `batch`: rows per batch, each of which is split like this; 0 or all rows: one batch.
Partition partition(std::int64_t rows, int devices, int process = 0, int processes = 1, std::int64_t batch = 0);

/// The shards of this process, one per device. @pre as many devices as local shards
std::vector<Shard> local_shards(const Partition& world, std::span<const Device> devices);

}  // namespace league
