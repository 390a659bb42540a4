// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All threads add to one value without an atomic; volatile, so that no compiler keeps it in a register.
#include <Kokkos_Core.hpp>
#include <cstdint>

void sum(const float* x, double* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  Kokkos::parallel_for("clear", Kokkos::RangePolicy<>(exec, 0, 1), KOKKOS_LAMBDA(std::int64_t) { *sum = 0; });
  Kokkos::parallel_for(
      "add", Kokkos::RangePolicy<>(exec, 0, n), KOKKOS_LAMBDA(std::int64_t i) {
        auto* total = static_cast<volatile double*>(sum);
        *total = *total + x[i];
      });
}
