// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>

// A view of three extents known at run time keeps them in 32 bits, and adds an `int` index to a row's place in 32 bits:
// beyond 2^32 elements of a plane it names another element. No memory is touched.
int main(int count, char** arguments) {
  const Kokkos::ScopeGuard guard(count, arguments);
  constexpr std::int64_t rows = 70'000, columns = 70'000;
  const Kokkos::View<char***, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> view(
      reinterpret_cast<char*>(std::uintptr_t{1} << 40), 1, rows, columns);
  const int y = rows - 1;
  std::printf("%td\n", &view(0, y, 0) - view.data());                // 604962704
  std::printf("%td\n", &view(0, std::int64_t{y}, 0) - view.data());  // 4899930000
}
