// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/common/packs.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/cuda/pass.hpp"

namespace league::cuda::vector_add {
namespace {

// A block takes blockDim consecutive packs of 16 bytes at a time, a thread one; block 0 adds the elements after the
// last whole pack.
template <class T>
__global__ void add_packs(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum);
  const std::int64_t packs = n / Pack<T>::size;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < packs; i += std::int64_t{gridDim.x} * lanes) {
    const Pack<T> x = packs_a[i], y = packs_b[i];  // by single loads
    packs_sum[i] = x + y;
  }
  if (blockIdx.x == 0)
    for (std::int64_t i = packs * Pack<T>::size + lane; i < n; i += lanes) sum[i] = a[i] + b[i];
}

template <class T>
void add(const Pass& on, const T* a, const T* b, T* sum) {
  add_packs<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, sum);
  check_launch();
}

const OneVectorPass wide{"wide", model, {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add<T>, {.per_lane = Pack<T>::size});
                         }};

}  // namespace
}  // namespace league::cuda::vector_add
