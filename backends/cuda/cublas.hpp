// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "backends/cuda/cuda.hpp"

/// cuBLAS on a queue, in the words that the algorithms need.
namespace league::cuda {

inline void check_cublas(cublasStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string("cublas: ") + cublasGetStatusString(status) + " (" + where.file_name() + ":" +
                           std::to_string(where.line()) + ")");
}

struct CublasHandle {
  std::shared_ptr<cublasContext> handle;
};

/// The queue's handle, in pedantic mode: products in the data's own type, no TF32. Made at first use, kept by the
/// runtime.
inline cublasHandle_t cublas_handle(Runtime& runtime, Queue& queue) {
  const cudaStream_t on = stream(queue);
  return runtime
      .attachment<CublasHandle>(queue.device(),
                                [on] {
                                  cublasHandle_t handle = nullptr;
                                  check_cublas(cublasCreate(&handle));
                                  CublasHandle kept{{handle, [](cublasContext* context) { cublasDestroy(context); }}};
                                  check_cublas(cublasSetStream(handle, on));
                                  check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
                                  return kept;
                                })
      .handle.get();
}

/// out[i][j] = a_i . b_j for rows a [rows x depth] and b [columns x depth]; all row-major. T is float or double.
template <class T>
void products_of_rows(cublasHandle_t handle, std::int64_t rows, std::int64_t columns, std::int64_t depth, const T* a,
                      const T* b, T* out) {
  const T one = 1, zero = 0;
  const auto m = static_cast<int>(columns), n = static_cast<int>(rows), k = static_cast<int>(depth);
  if constexpr (std::is_same_v<T, float>)
    check_cublas(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, b, k, a, k, &zero, out, m));
  else
    check_cublas(cublasDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, b, k, a, k, &zero, out, m));
}

}  // namespace league::cuda
