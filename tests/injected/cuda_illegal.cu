// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime.h>

#include <cstdint>

namespace {
__global__ void write_to(int* anywhere) { *anywhere = 1; }
}  // namespace

void league_launch_illegal(cudaStream_t stream) {
  write_to<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(std::uintptr_t{64}));
}
