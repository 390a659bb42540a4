// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/contract/problem.hpp"

namespace league::bench {

/// Copies in ordinary memory.
Outputs copies(const Outputs& results);

/// The sum over all values of |a - b| / max(|a|, |b|), each at most 1; a value that is a number on one side only counts
/// 1. @pre the same names, types and shapes
double difference(const Outputs& a, const Outputs& b);

}  // namespace league::bench
