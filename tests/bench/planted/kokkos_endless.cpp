// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits for a value that nothing writes.
#include <Kokkos_Core.hpp>
#include <cstdint>

void sum(const float* x, double* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  Kokkos::parallel_for(
      "wait", Kokkos::RangePolicy<>(exec, 0, n), KOKKOS_LAMBDA(std::int64_t i) {
        while (*static_cast<const volatile float*>(x + i) >= 0) *static_cast<volatile double*>(sum) = 0;
      });
}
