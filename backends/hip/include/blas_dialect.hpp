// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <rocblas/rocblas.h>

#include <library_dialect.hpp>

// The cuBLAS calls used in the project, as their rocBLAS equivalents. Both are column-major, with scalars on the host.
#define CUBLAS_OP_N rocblas_operation_none
#define CUBLAS_OP_T rocblas_operation_transpose
#define CUBLAS_PEDANTIC_MATH league::cuda::BlasMath::pedantic
#define CUBLAS_STATUS_SUCCESS rocblas_status_success
#define CUBLAS_TF32_TENSOR_OP_MATH league::cuda::BlasMath::tf32
#define cublasContext _rocblas_handle
#define cublasCreate rocblas_create_handle
#define cublasDestroy rocblas_destroy_handle
#define cublasDgemm rocblas_dgemm
#define cublasDgemv rocblas_dgemv
#define cublasGetStatusString rocblas_status_to_string
#define cublasHandle_t rocblas_handle
#define cublasOperation_t rocblas_operation
#define cublasSetStream rocblas_set_stream
#define cublasSetWorkspace rocblas_set_workspace
#define cublasSgemm rocblas_sgemm
#define cublasSgemmStridedBatched rocblas_sgemm_strided_batched
#define cublasSgemv rocblas_sgemv
#define cublasStatus_t rocblas_status

namespace league::cuda {

/// Products in the data's own type are rocBLAS' default. No variant of this model asks for anything like TF32.
enum class BlasMath { pedantic, tf32 };
inline rocblas_status cublasSetMathMode(rocblas_handle, BlasMath mode) {
  return mode == BlasMath::pedantic ? rocblas_status_success : rocblas_status_not_implemented;
}
inline rocblas_status take_workspace(rocblas_handle handle, hipStream_t) {
  return rocblas_set_workspace(handle, nullptr, 0);
}

}  // namespace league::cuda
