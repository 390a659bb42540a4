// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// Calls `body(item)` for the items of this thread: every threads-th one of the grid.
template <class Body>
__device__ void for_items(std::int64_t items, const Body& body) {
  const std::int64_t lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t item = blockIdx.x * lanes + lane; item < items; item += gridDim.x * lanes) body(item);
}

}  // namespace league::blocks
