// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The libraries of a GPU that variants call, for CUDA. `backends/hip/include/library_dialect.hpp` is the same for HIP.
namespace league::cuda {

/// The models: products of matrices (dialect: blas_dialect.hpp), and primitives (primitives_dialect.hpp).
inline constexpr const char *blas = "cublas", *primitives = "cub";

}  // namespace league::cuda
