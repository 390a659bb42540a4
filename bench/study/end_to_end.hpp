// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "bench/study/axes.hpp"

namespace league::bench {

/// The keys `end_to_end` and `host_memory`: the kinds of host memory that end-to-end times are taken with; empty where
/// the study asks for none. @throws BadInput naming file, line and key
std::vector<HostMemory> read_end_to_end(const Axes& axes);

}  // namespace league::bench
