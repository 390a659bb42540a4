// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/common/packs.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/cuda/pass.hpp"

namespace league::cuda::vector_add {
namespace {

/// Packs that a thread stores at a time.
constexpr int in_flight = 4;

// A block stores blockDim x in_flight packs at a time, a thread every blockDim-th of them.
template <class T>
__global__ void fill_packs(std::int64_t n, std::int64_t begin, T* index) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  auto* packs_index = reinterpret_cast<Pack<T>*>(index);
  const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * in_flight;
  for (std::int64_t first = blockIdx.x * block; first < packs; first += gridDim.x * block)
    for (int k = 0; k < in_flight; ++k)
      if (const std::int64_t i = first + lane + k * lanes; i < packs)
        packs_index[i] = indices<T, Pack<T>::size>(begin, i);
  if (blockIdx.x == 0)
    for (std::int64_t i = packs * Pack<T>::size + lane; i < n; i += lanes) index[i] = static_cast<T>(begin + i);
}

template <class T>
void fill(const Pass& on, T* index) {
  fill_packs<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), on.rows.begin, index);
  check_launch();
}

const OneVectorPass filled{"fill", model, {"index"}, []<class T>(Of<T>) {
                             return kernel("fill", fill<T>, {.per_lane = in_flight * Pack<T>::size});
                           }};

}  // namespace
}  // namespace league::cuda::vector_add
