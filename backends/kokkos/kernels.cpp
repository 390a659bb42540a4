// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/kernels.hpp"

#include <KokkosBlas3_gemm.hpp>

namespace league::kokkos {

template <class T>
void gemm(const Exec& exec, Factor a_stored, Factor b_stored, Matrix<const T> a, Matrix<const T> b, Matrix<T> out) {
  const char of_a[]{static_cast<char>(a_stored), '\0'}, of_b[]{static_cast<char>(b_stored), '\0'};
  KokkosBlas::gemm(exec, of_a, of_b, T{1}, a, b, T{0}, out);
}

template void gemm(const Exec&, Factor, Factor, Matrix<const float>, Matrix<const float>, Matrix<float>);
template void gemm(const Exec&, Factor, Factor, Matrix<const double>, Matrix<const double>, Matrix<double>);

}  // namespace league::kokkos
