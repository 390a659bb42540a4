# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA for RawKernels: sums over all threads of a grid, in a fixed order, in one launch."""

# : `add_up<S>(mine, partials, arrived, totals)`: every thread has S doubles; the last
# block (ticket) : writes the sums of all threads to its shared `totals` and gets true,
# the others false. Blocks of : 256 threads; `partials` [S x blocks]; `arrived` is 0
# before and after.
ADD_UP = """
template <int S>
__device__ bool add_up(const double (&mine)[S], double* partials, unsigned* arrived, double* totals) {
  __shared__ double of_warps[8];
  __shared__ bool last;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int s = 0; s < S; ++s) {
    double sum = mine[s];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) of_warps[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < 8; ++w) sum += of_warps[w];
      partials[s * (long long)gridDim.x + blockIdx.x] = sum;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return false;
  for (int s = warp; s < S; s += 8) {
    double sum = 0;
    for (int b = lane; b < gridDim.x; b += 32) sum += __ldcg(&partials[s * (long long)gridDim.x + b]);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (lane == 0) totals[s] = sum;
  }
  __syncthreads();
  return true;
}
"""
