// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes one value before the array.
#include <Kokkos_Core.hpp>
#include <cstdint>

void sum(const float* x, double* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  Kokkos::parallel_for("add", Kokkos::RangePolicy<>(exec, 0, 2), KOKKOS_LAMBDA(std::int64_t i) { sum[-i] = x[i] + n; });
}
