// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes far behind the array.
#include <cstdint>

__global__ void add(const float* x, double* sum, std::int64_t n) { sum[n << 20] = x[0]; }

void sum(const float* x, double* sum, std::int64_t n, cudaStream_t stream) { add<<<1, 1, 0, stream>>>(x, sum, n); }
