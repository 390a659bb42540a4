// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/subgroup_cuda.hpp"
#include "algorithms/blocks/sums_native.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// Adds over a warp; lane 0 has the sums.
template <class T, int n>
__device__ Sums<T, n> warp_sums(const Sums<T, n>& mine) {
  return sum_lanes<subgroup_size>(mine, [](const Sums<T, n>& value, int offset) {
    Sums<T, n> above;
    for (int i = 0; i < n; ++i) above.values[i] = cuda::shuffle_down(value.values[i], offset);
    return above;
  });
}

/// Adds over a block; thread 0 has the sums. @pre whole warps; all threads call
template <class T, int n>
__device__ Sums<T, n> block_sums(const Sums<T, n>& mine) {
  constexpr int max_warps = 1024 / cuda::warp_size;
  __shared__ T of_warps[n][max_warps + 1];
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), warp = lane / cuda::warp_size;
  const int warps = static_cast<int>(blockDim.x * blockDim.y) / cuda::warp_size;
  Sums<T, n> sums = warp_sums(mine);
  __syncthreads();  // earlier values have been read
  if (lane % cuda::warp_size == 0)
    for (int i = 0; i < n; ++i) of_warps[i][warp] = sums.values[i];
  __syncthreads();
  if (warp == 0) {
    for (int i = 0; i < n; ++i) {
      sums.values[i] = subgroup_sum(lane < warps ? of_warps[i][lane] : T{});
    }
  }
  return sums;
}

/// Shared memory of `sums_for_all`, in doubles.
template <int n>
constexpr int sums_for_all_size(Launch launch) {
  return 2 * n * ceil_div(launch.team * launch.vector, subgroup_size);
}

/// Adds over a block; all threads get the sums, with one barrier. Warps shuffle, then every thread adds the sums of all
/// warps in order. `scratch` [sums_for_all_size] is double-buffered by `turn`: a new turn does not overwrite what
/// slower threads still read.
/// @pre whole warps; all threads call, with `turn` incremented each time
template <class T, int n>
__device__ Sums<double, n> sums_for_all(const Sums<T, n>& mine, double* scratch, std::int64_t turn) {
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int warps = static_cast<int>(blockDim.x * blockDim.y) / subgroup_size;
  T* of_warps = reinterpret_cast<T*>(scratch + (turn & 1) * n * warps);
  leave_sums_over_lanes(NativeLanes{lane % subgroup_size}, mine, of_warps + lane / subgroup_size * n);
  __syncthreads();
  return ordered_sums<n>(of_warps, warps);
}

/// Adds `partials` [blocks x n]; all threads of the last block call.
template <int n>
__device__ void add_partials(const double* partials, double* sums) {
  const int lanes = static_cast<int>(blockDim.x * blockDim.y), blocks = static_cast<int>(gridDim.x);
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  if constexpr (n <= few_sums) {  // a thread takes all values of some blocks
    Sums<double, n> mine;
    for (int block = lane; block < blocks; block += lanes)
      for (int i = 0; i < n; ++i) mine.values[i] += partials[std::int64_t{block} * n + i];
    const Sums<double, n> all = block_sums(mine);
    if (lane == 0)
      for (int i = 0; i < n; ++i) sums[i] = all.values[i];
  } else {  // a thread takes one value of some blocks
    __shared__ double of_chunks[n > 1024 ? n : 1024];
    const int chunks = lanes > n ? lanes / n : 1;
    for (int at = lane; at < n * chunks; at += lanes) {
      double sum = 0;
      for (int block = at / n; block < blocks; block += chunks) sum += partials[std::int64_t{block} * n + at % n];
      of_chunks[at] = sum;
    }
    __syncthreads();
    for (int i = lane; i < n; i += lanes) {
      double sum = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) sum += of_chunks[chunk * n + i];
      sums[i] = sum;
    }
  }
}

/// Last-block reduction over the grid, in an order that depends on the launch only: every block writes its sums to
/// `partials` [blocks x n], and the last one to arrive adds them into `sums` [n].
/// @pre `ticket` is 0, and is reset to 0; whole warps; all threads call
/// @returns whether this block was the last: its threads see `sums` after a __syncthreads
template <class T, int n>
__device__ bool grid_sums(const Sums<T, n>& mine, double* partials, unsigned* ticket, double* sums) {
  __shared__ bool last;
  const bool first_thread = threadIdx.x == 0 && threadIdx.y == 0;
  const Sums<T, n> of_block = block_sums(mine);
  if (first_thread) {
    double* own = gridDim.x == 1 ? sums : partials + std::int64_t{blockIdx.x} * n;
    for (int i = 0; i < n; ++i) own[i] = of_block.values[i];
    if (gridDim.x > 1) __threadfence();
    last = gridDim.x == 1 || atomicAdd(ticket, 1U) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!last) return false;
  if (gridDim.x == 1) return true;
  __threadfence();
  add_partials<n>(partials, sums);
  if (first_thread) *ticket = 0;
  return true;
}

}  // namespace league::blocks
