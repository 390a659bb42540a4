// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "backends/kokkos/kokkos.hpp"

namespace league::kokkos {

/// Whether a factor of a product is stored as its transpose.
enum class Factor : char { as_is = 'N', transposed = 'T' };

/// `out` = a b by Kokkos Kernels, in float and double. Its template takes a compiler a quarter of a minute: here once,
/// not in every algorithm that multiplies.
template <class T>
void gemm(const Exec& exec, Factor a_stored, Factor b_stored, Matrix<const T> a, Matrix<const T> b, Matrix<T> out);

}  // namespace league::kokkos
