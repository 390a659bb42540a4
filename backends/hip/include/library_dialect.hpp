// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// HIP's side of `backends/cuda/include/library_dialect.hpp`.
namespace league::cuda {

inline constexpr const char *blas = "rocblas", *primitives = "rocprim";

}  // namespace league::cuda
