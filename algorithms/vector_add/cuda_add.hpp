// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/vector_add/wide.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::cuda::vector_add {

// A block takes blockDim consecutive elements at a time, a thread one.
template <class T>
__global__ void add_plain(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < n; i += std::int64_t{gridDim.x} * lanes)
    sum[i] = a[i] + b[i];
}

template <class T>
__global__ void fill_index(std::int64_t n, std::int64_t first, T* index) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < n; i += std::int64_t{gridDim.x} * lanes)
    index[i] = static_cast<T>(first + i);
}

// A block takes blockDim x packs_a_lane packs of 16 bytes at a time, a thread every blockDim-th of them, all loads
// first.
template <class T>
__global__ void add_wide(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum);
  const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_a_lane;
  for (std::int64_t first = blockIdx.x * block; first < packs; first += gridDim.x * block) {
    const std::int64_t mine = first + lane;
    if (first + block <= packs) {
      Pack<T> x[packs_a_lane], y[packs_a_lane];
      for (int k = 0; k < packs_a_lane; ++k) x[k] = packs_a[mine + k * lanes], y[k] = packs_b[mine + k * lanes];
      for (int k = 0; k < packs_a_lane; ++k) packs_sum[mine + k * lanes] = x[k] + y[k];
    } else {
      for (std::int64_t i = mine; i < packs; i += lanes) packs_sum[i] = packs_a[i] + packs_b[i];
    }
  }
  if (blockIdx.x == 0)
    for (std::int64_t i = packs * Pack<T>::size + lane; i < n; i += lanes) sum[i] = a[i] + b[i];
}

enum class Kernel { plain, wide, fill };

/// The method's choice where the launch leaves it open; `tile` is what a block takes at a time.
template <class T, Kernel kernel>
Launch configure(Launch launch, std::int64_t n) {
  launch = resolve(launch, {0, 256, 1}, limits);
  launch.tile = launch.team * launch.vector * (kernel == Kernel::wide ? packs_a_lane * Pack<T>::size : 1);
  if (launch.league == 0) launch.league = league_of(ceil_div<std::int64_t>(n, launch.tile));
  return launch;
}

template <class T, Kernel kernel>
void add(Launch launch, cudaStream_t stream, std::int64_t n, const T* a, const T* b, T* sum) {
  const dim3 block(static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team));
  const auto league = static_cast<unsigned>(launch.league);
  if constexpr (kernel == Kernel::plain) add_plain<<<league, block, 0, stream>>>(n, a, b, sum);
  if constexpr (kernel == Kernel::wide) add_wide<<<league, block, 0, stream>>>(n, a, b, sum);
  check_launch();
}

}  // namespace league::cuda::vector_add
