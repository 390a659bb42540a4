// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/drivers/one_pass.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "backends/kokkos/pass.hpp"

namespace league::kokkos::vector_add {

/// Calls `body(i)` for i from `first` on, before `end`, at most `count`, by the lanes of a team. Counted in 32 bits:
/// the compiler unrolls a range by the number of its iterations, which for 64-bit indices takes a division of 0.3 us.
template <class Body>
KOKKOS_INLINE_FUNCTION void for_next(const Member& team, std::int64_t first, std::int64_t end, int count,
                                     const Body& body) {
  const std::int64_t left = end - first;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, left < count ? static_cast<int>(left) : count),
                       [&](int i) { body(first + i); });
}

/// Registers kernels of one body with numbers: `numbers(Of<T>())` gives those of a type, `make(Of<T>())` the kernel.
template <class NumbersOf, class Make>
OneVectorPass once(const char* method, const std::vector<std::string>& names, NumbersOf numbers, Make make) {
  return {method,
          written_once<float, double, std::int32_t>(model,
                                                    [&]<class T>(Of<T> type) { return blocks::named(numbers(type)); }),
          names, make};
}

}  // namespace league::kokkos::vector_add
