// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <blas_dialect.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "backends/cuda/cuda.hpp"

/// cuBLAS on a queue, as the algorithms need it; or, through the dialect, rocBLAS.
namespace league::cuda {

inline void check_cublas(cublasStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(blas) + ": " + cublasGetStatusString(status) + " (" + where.file_name() + ":" +
                           std::to_string(where.line()) + ")");
}

struct CublasHandle {
  std::shared_ptr<cublasContext> handle;
};

/// The queue's handle, in pedantic mode: products in the data's own type, no TF32. Created at first use, owned by the
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

/// Recommended by cuBLAS for the largest GPUs.
inline constexpr std::int64_t cublas_workspace_bytes = std::int64_t{32} << 20;

/// Gives the handle a workspace of ours for its lifetime, so that calls recorded into a graph do not allocate.
class CublasWorkspace {
 public:
  CublasWorkspace(cublasHandle_t handle, cudaStream_t stream, void* memory) : handle_(handle), stream_(stream) {
    check_cublas(cublasSetWorkspace(handle, memory, static_cast<std::size_t>(cublas_workspace_bytes)));
  }
  ~CublasWorkspace() { static_cast<void>(take_workspace(handle_, stream_)); }
  CublasWorkspace(const CublasWorkspace&) = delete;
  CublasWorkspace& operator=(const CublasWorkspace&) = delete;

 private:
  cublasHandle_t handle_;
  cudaStream_t stream_;
};

/// A factor of a product, row-major as stored; `transposed`: its transpose is the factor.
struct CublasFactor {
  const float* values;
  bool transposed;
};
/// The arguments of out [slices][rows x columns] = a b, all row-major: cuBLAS is column-major and computes out' = b'
/// a'.
struct CublasProduct {
  CublasProduct(std::int64_t rows, std::int64_t columns, std::int64_t depth, bool a_transposed, bool b_transposed,
                int slices)
      : m(static_cast<int>(columns)),
        n(static_cast<int>(rows)),
        k(static_cast<int>(depth / slices)),
        a_pitch(static_cast<int>(a_transposed ? rows : depth)),
        b_pitch(static_cast<int>(b_transposed ? depth : columns)),
        a_slice(a_transposed ? k * rows : k),
        b_slice(b_transposed ? k : k * columns),
        out_slice(rows * columns),
        of_a(a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N),
        of_b(b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N) {}
  int m, n, k, a_pitch, b_pitch;
  std::int64_t a_slice, b_slice, out_slice;
  cublasOperation_t of_a, of_b;
};
/// out [slices][rows x columns] = a b, where each slice has its part of the depth (split-K); all row-major.
/// @pre `slices` divides the depth
inline void product(cublasHandle_t handle, std::int64_t rows, std::int64_t columns, std::int64_t depth, CublasFactor a,
                    CublasFactor b, float* out, int slices = 1) {
  const float one = 1, zero = 0;
  const CublasProduct of(rows, columns, depth, a.transposed, b.transposed, slices);
  if (slices == 1)
    check_cublas(cublasSgemm(handle, of.of_b, of.of_a, of.m, of.n, of.k, &one, b.values, of.b_pitch, a.values,
                             of.a_pitch, &zero, out, of.m));
  else
    check_cublas(cublasSgemmStridedBatched(handle, of.of_b, of.of_a, of.m, of.n, of.k, &one, b.values, of.b_pitch,
                                           of.b_slice, a.values, of.a_pitch, of.a_slice, &zero, out, of.m, of.out_slice,
                                           slices));
}

}  // namespace league::cuda
