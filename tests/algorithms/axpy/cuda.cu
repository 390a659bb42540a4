// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "backends/cuda/pass.hpp"
#include "tests/algorithms/axpy/axpy.hpp"

namespace league::cuda {
namespace {

// A block takes blockDim consecutive elements at a time, a thread one.
__global__ void axpy_elements(std::int64_t n, const float* x, const float* y, float* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < n; i += std::int64_t{gridDim.x} * lanes)
    sum[i] = 2 * x[i] + y[i];
}

void axpy(const Pass& on, const float* x, const float* y, float* sum) {
  axpy_elements<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), x, y, sum);
  check_launch();
}

const OnePass<Axpy> plain{"plain", model, {"x", "y", "sum"}, kernel("axpy", axpy)};

}  // namespace
}  // namespace league::cuda
