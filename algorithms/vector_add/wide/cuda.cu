// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/common/packs.hpp"
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
void add_plain(const Pass& on, const T* a, const T* b, T* sum) {
  add_elements<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, sum);
  check_launch();
}

// As `add_elements`, with packs of 16 bytes; block 0 adds the elements after the last whole pack.
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
void add_wide(const Pass& on, const T* a, const T* b, T* sum) {
  add_packs<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, sum);
  check_launch();
}

// A block stores blockDim x packs_per_lane packs at a time, a thread every blockDim-th of them.
template <class T>
__global__ void fill_packs(std::int64_t n, std::int64_t begin, T* index) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  auto* packs_index = reinterpret_cast<Pack<T>*>(index);
  const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_per_lane;
  for (std::int64_t first = blockIdx.x * block; first < packs; first += gridDim.x * block)
    for (int k = 0; k < packs_per_lane; ++k)
      if (const std::int64_t i = first + lane + k * lanes; i < packs) packs_index[i] = indices<T>(begin, i);
  if (blockIdx.x == 0)
    for (std::int64_t i = packs * Pack<T>::size + lane; i < n; i += lanes) index[i] = static_cast<T>(begin + i);
}

template <class T>
void fill(const Pass& on, T* index) {
  fill_packs<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), on.rows.begin, index);
  check_launch();
}

const OneVectorPass plain{
    "plain", model, {"a", "b", "sum"}, []<class T>(Of<T>) { return kernel("add", add_plain<T>); }};
const OneVectorPass wide{"wide", model, {"a", "b", "sum"}, []<class T>(Of<T>) {
                           return kernel("add", add_wide<T>, {.per_lane = Pack<T>::size});
                         }};
const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) {
                             return kernel("fill", fill<T>, {.per_lane = elements_per_lane<T>});
                           }};

}  // namespace
}  // namespace league::cuda::vector_add
