// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_transform.cuh>
#include <library_dialect.hpp>

/// What the project calls of CUB. `backends/hip/include/primitives_dialect.hpp` is the same for rocPRIM.
namespace league::cuda {

/// out[i] = function(a[i], b[i])
template <class T, class Function>
cudaError_t transform(const T* a, const T* b, T* out, std::int64_t count, Function function, cudaStream_t stream) {
  return cub::DeviceTransform::Transform(::cuda::std::make_tuple(a, b), out, count, function, stream);
}

/// *sum = the sum of the values, added in the type of the sum. With no `temporary`: only sets `bytes` to its size.
template <class V, class Sum>
cudaError_t sum_of(void* temporary, std::size_t& bytes, const V* values, Sum* sum, std::int64_t count,
                   cudaStream_t stream = nullptr) {
  return cub::DeviceReduce::Sum(temporary, bytes, values, sum, count, stream);
}

}  // namespace league::cuda
