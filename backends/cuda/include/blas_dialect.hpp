// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cublas_v2.h>

#include <library_dialect.hpp>

namespace league::cuda {

/// Takes a workspace from a handle, which allocates its own again.
inline cublasStatus_t take_workspace(cublasHandle_t handle, cudaStream_t stream) {
  return cublasSetStream(handle, stream);  // resets the workspace
}

}  // namespace league::cuda
