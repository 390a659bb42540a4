// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory_resource>

#include "bench/study/case.hpp"

namespace league::bench {

/// Labelled rows made from (seed, row, column) alone: five classes around five centres, in few enough grey levels that
/// distances tie. Every 11th training row has the features of the row before it under a label of its own, and every 7th
/// test row those of a training row: duplicates and zero distances. Of "normal", features are of the standard normal
/// distribution whatever their class.
Dataset generate_dataset(const Selection& selection, std::pmr::memory_resource& memory);

}  // namespace league::bench
