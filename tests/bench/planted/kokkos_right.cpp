// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of x by Kokkos' reduction.
#include <Kokkos_Core.hpp>
#include <cstdint>

void sum(const float* x, double* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  const Kokkos::View<double, Kokkos::DefaultExecutionSpace::memory_space, Kokkos::MemoryUnmanaged> total(sum);
  Kokkos::parallel_reduce(
      "sum", Kokkos::RangePolicy<>(exec, 0, n), KOKKOS_LAMBDA(std::int64_t i, double& part) { part += x[i]; }, total);
}
