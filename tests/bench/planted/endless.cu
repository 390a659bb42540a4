// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits for a value that nothing writes.
#include <cstdint>

__global__ void wait(const float* x, double* sum) {
  while (*static_cast<const volatile float*>(x) >= 0) *static_cast<volatile double*>(sum) = 0;
}

void sum(const float* x, double* sum, std::int64_t, cudaStream_t stream) { wait<<<1, 1, 0, stream>>>(x, sum); }
