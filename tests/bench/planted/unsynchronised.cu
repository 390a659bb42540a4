// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of x, with the synchronisation of each block missing.
#include <cstdint>

__global__ void add(const float* x, double* sum, std::int64_t n) {
  __shared__ double parts[256];
  double mine = 0;
  for (std::int64_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += std::int64_t(gridDim.x) * 256) mine += x[i];
  parts[threadIdx.x] = mine;
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
  }
  if (threadIdx.x == 0) atomicAdd(sum, parts[0]);
}

void sum(const float* x, double* sum, std::int64_t n, cudaStream_t stream) {
  cudaMemsetAsync(sum, 0, sizeof(double), stream);
  add<<<256, 256, 0, stream>>>(x, sum, n);
}
