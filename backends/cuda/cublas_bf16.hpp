// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/cuda/cublas.hpp"

/// Products of factors stored in bf16, by cuBLAS; not by rocBLAS.
namespace league::cuda {

/// As `CublasFactor`, of values of 2 bytes.
struct CublasBf16Factor {
  const void* values;
  bool transposed;
};
/// `product` on matrix units, summed and stored in f32. The handle's math mode is the pedantic one again afterwards.
inline void product(cublasHandle_t handle, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                    CublasBf16Factor a, CublasBf16Factor b, float* out, int slices = 1) {
  const float one = 1, zero = 0;
  const CublasProduct of(rows, columns, depth, a.transposed, b.transposed, slices);
  check_cublas(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
  check_cublas(cublasGemmStridedBatchedEx(handle, of.of_b, of.of_a, of.m, of.n, of.k, &one, b.values, CUDA_R_16BF,
                                          of.b_pitch, of.b_slice, a.values, CUDA_R_16BF, of.a_pitch, of.a_slice, &zero,
                                          out, CUDA_R_32F, of.m, of.out_slice, slices, CUBLAS_COMPUTE_32F,
                                          CUBLAS_GEMM_DEFAULT));
  check_cublas(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
}

}  // namespace league::cuda
