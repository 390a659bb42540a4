// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

// On a host with two threads or more: the allocation of the second thread's scratch memory fails, the exception is
// caught, and the next kernel on the same instance uses memory that is not there.
namespace {

int until_failure = 0;  // aligned allocations that still succeed; 0: all do

}  // namespace

void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t& /*no exception*/) noexcept {
  if (until_failure > 0 && --until_failure == 0) return nullptr;
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}

int main(int count, char** arguments) {
  const Kokkos::ScopeGuard guard(count, arguments);
  const Kokkos::DefaultHostExecutionSpace exec(Kokkos::num_threads());
  const auto sum = [&] {
    double total = 0;
    Kokkos::parallel_reduce(
        "sum", Kokkos::TeamPolicy<Kokkos::DefaultHostExecutionSpace>(exec, 1000, 1),
        [](const auto& team, double& mine) { mine += team.league_rank(); }, total);
    return total;
  };
  until_failure = 2;
  try {
    std::fprintf(stderr, "%g, and nothing failed\n", sum());
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::fprintf(stderr, "%g\n", sum());  // 499500
}
