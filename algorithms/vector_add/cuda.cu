// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide.hpp"
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

// A block takes blockDim x packs_per_lane packs of 16 bytes at a time, a thread every blockDim-th of them, all its
// loads in flight before the first store.
template <class T>
__global__ void add_packs(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum);
  const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_per_lane;
  for (std::int64_t first = blockIdx.x * block; first < packs; first += gridDim.x * block) {
    const std::int64_t mine = first + lane;
    if (first + block <= packs) {
      Pack<T> x[packs_per_lane], y[packs_per_lane];
      for (int k = 0; k < packs_per_lane; ++k) x[k] = packs_a[mine + k * lanes], y[k] = packs_b[mine + k * lanes];
      for (int k = 0; k < packs_per_lane; ++k) packs_sum[mine + k * lanes] = x[k] + y[k];
    } else {
      for (std::int64_t i = mine; i < packs; i += lanes) packs_sum[i] = packs_a[i] + packs_b[i];
    }
  }
  if (blockIdx.x == 0)
    for (std::int64_t i = packs * Pack<T>::size + lane; i < n; i += lanes) sum[i] = a[i] + b[i];
}

template <class T>
void add_wide(const Pass& on, const T* a, const T* b, T* sum) {
  add_packs<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, sum);
  check_launch();
}

// As `add_packs`: a block stores blockDim x packs_per_lane packs at a time.
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
                           return kernel("add", add_wide<T>, {.per_lane = elements_per_lane<T>});
                         }};
const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) {
                             return kernel("fill", fill<T>, {.per_lane = elements_per_lane<T>});
                           }};

}  // namespace
}  // namespace league::cuda::vector_add
