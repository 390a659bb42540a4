// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/contract/problem.hpp"
#include "backends/runtime.hpp"

namespace league::bench {

std::int64_t total_bytes(const Outputs& arrays);

/// The budget of a device for one case [bytes], where none is `given`: nine tenths of what is free. Where the device
/// computes in the memory of its host, the outputs of the problem lie there too, and are subtracted.
std::int64_t memory_budget(const Runtime& runtime, DeviceKind kind, std::optional<std::int64_t> given,
                           const Problem& problem);

}  // namespace league::bench
