// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// Adds over a warp; lane 0 has the sums.
template <class T, int n>
__device__ Sums<T, n> warp_sums(const Sums<T, n>& mine) {
  return sum_lanes<cuda::warp_size>(mine, [](const Sums<T, n>& value, int offset) {
    Sums<T, n> above;
    for (int i = 0; i < n; ++i) above.values[i] = cuda::shuffle_down(value.values[i], offset);
    return above;
  });
}

/// Adds over a block; thread 0 has the sums. @pre whole warps; all threads call
template <class T, int n>
__device__ Sums<T, n> block_sums(const Sums<T, n>& mine) {
  constexpr int most_warps = 1024 / cuda::warp_size;
  __shared__ T of_warps[n][most_warps + 1];
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), warp = lane / cuda::warp_size;
  const int warps = static_cast<int>(blockDim.x * blockDim.y) / cuda::warp_size;
  Sums<T, n> sums = warp_sums(mine);
  __syncthreads();  // what was there before has been read
  if (lane % cuda::warp_size == 0)
    for (int i = 0; i < n; ++i) of_warps[i][warp] = sums.values[i];
  __syncthreads();
  if (warp == 0) {
    for (int i = 0; i < n; ++i) {
      T value = lane < warps ? of_warps[i][lane] : T{};
      sums.values[i] = sum_lanes<cuda::warp_size>(value, [](T v, int offset) { return cuda::shuffle_down(v, offset); });
    }
  }
  return sums;
}

/// Adds over the grid, in an order that depends on the launch alone: every block leaves its sums in `partials`
/// [n x blocks], and the last one to come adds them into `sums` [n].
/// @pre `ticket` is 0, and is again afterwards; whole warps; all threads call
/// @returns whether this block was the last: its threads see `sums` after a __syncthreads
template <class T, int n>
__device__ bool grid_sums(const Sums<T, n>& mine, double* partials, unsigned* ticket, double* sums) {
  __shared__ bool last;
  const int lanes = static_cast<int>(blockDim.x * blockDim.y);
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const Sums<T, n> of_block = block_sums(mine);
  if (lane == 0) {
    for (int i = 0; i < n; ++i) partials[std::int64_t{i} * gridDim.x + blockIdx.x] = of_block.values[i];
    __threadfence();
    last = atomicAdd(ticket, 1U) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!last) return false;
  __threadfence();
  for (int i = lane / cuda::warp_size; i < n; i += lanes / cuda::warp_size) {
    double sum = 0;
    for (unsigned block = static_cast<unsigned>(lane % cuda::warp_size); block < gridDim.x; block += cuda::warp_size)
      sum += partials[std::int64_t{i} * gridDim.x + block];
    sum = sum_lanes<cuda::warp_size>(sum, [](double v, int offset) { return cuda::shuffle_down(v, offset); });
    if (lane % cuda::warp_size == 0) sums[i] = sum;
  }
  if (lane == 0) *ticket = 0;
  return true;
}

}  // namespace league::blocks
