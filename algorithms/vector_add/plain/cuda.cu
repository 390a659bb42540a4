// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/cuda/pass.hpp"

namespace league::cuda::vector_add {
namespace {

// A block takes blockDim consecutive elements at a time, a thread one.
template <class T>
__global__ void add_elements(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < n; i += std::int64_t{gridDim.x} * lanes)
    sum[i] = a[i] + b[i];
}

template <class T>
void add(const Pass& on, const T* a, const T* b, T* sum) {
  add_elements<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, sum);
  check_launch();
}

const OneVectorPass plain{"plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add<T>); }};

}  // namespace
}  // namespace league::cuda::vector_add
