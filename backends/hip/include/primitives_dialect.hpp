// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gpu_dialect.hpp>
#include <iostream>  // rocPRIM 5.3 uses it without including it
#include <library_dialect.hpp>
#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_transform.hpp>

/// HIP's side of `backends/cuda/include/primitives_dialect.hpp`: rocPRIM, which is what hipCUB calls on AMD's GPUs.
namespace league::cuda {

template <class T, class Function>
hipError_t transform(const T* a, const T* b, T* out, std::int64_t count, Function function, hipStream_t stream) {
  return rocprim::transform(a, b, out, static_cast<std::size_t>(count), function, stream);
}

template <class V, class Sum>
hipError_t sum_of(void* temporary, std::size_t& bytes, const V* values, Sum* sum, std::int64_t count,
                  hipStream_t stream = nullptr) {
  return rocprim::reduce(temporary, bytes, values, sum, Sum{0}, static_cast<std::size_t>(count), rocprim::plus<Sum>(),
                         stream);
}

}  // namespace league::cuda
