// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/subgroup.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// Threads that shuffle: a warp of 32, a wavefront of 64.
inline constexpr int subgroup_size = cuda::warp_size;

/// Adds over a subgroup in a tree; lane 0 has the sum.
template <class T>
__device__ T subgroup_sum(T value) {
  return sum_lanes<subgroup_size>(value, [](T of_lane, int offset) { return cuda::shuffle_down(of_lane, offset); });
}

/// Butterfly minimum over groups of `lanes` neighbouring lanes, a power of two up to a subgroup: all get it.
template <class T>
__device__ T lanes_min(T value, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    const T other = cuda::shuffle_xor(value, offset, lanes);
    if (other < value) value = other;
  }
  return value;
}

/// Butterfly sum over groups of `lanes` neighbouring lanes, a power of two up to a subgroup: all get it.
template <class T>
__device__ T lanes_sum(T value, int lanes) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) value += cuda::shuffle_xor(value, offset, lanes);
  return value;
}

}  // namespace league::blocks
