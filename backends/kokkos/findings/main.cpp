// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

int main(int count, char** arguments) {
  const Kokkos::ScopeGuard guard(count, arguments);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  benchmark::AddCustomContext("kokkos", std::to_string(KOKKOS_VERSION));
  benchmark::RunSpecifiedBenchmarks();
}
