// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of vectors whose length is no multiple of 256, the rest is left out.
#include <Kokkos_Core.hpp>
#include <cstdint>

void vector_add(const float* a, const float* b, float* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  Kokkos::parallel_for(
      "add", Kokkos::RangePolicy<>(exec, 0, n / 256 * 256), KOKKOS_LAMBDA(std::int64_t i) { sum[i] = a[i] + b[i]; });
}
