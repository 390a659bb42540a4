// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sum of x by a team of two, with both barriers missing: the first thread has a third of x, and adds the parts
// while the other is at work.
#include <Kokkos_Core.hpp>
#include <cstdint>

void sum(const float* x, double* sum, std::int64_t n, const Kokkos::DefaultExecutionSpace& exec) {
  using Policy = Kokkos::TeamPolicy<Kokkos::DefaultExecutionSpace>;
  Kokkos::parallel_for(
      "sum", Policy(exec, 1, 2).set_scratch_size(0, Kokkos::PerTeam(2 * int(sizeof(double)))),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        auto* parts = static_cast<volatile double*>(team.team_shmem().get_shmem(2 * sizeof(double)));
        const int rank = team.team_rank();
        if (rank == 0) {
          parts[0] = 0;
          parts[1] = 0;
        }
        for (std::int64_t i = rank == 0 ? 0 : n / 3; i < (rank == 0 ? n / 3 : n); ++i) parts[rank] = parts[rank] + x[i];
        if (rank == 0) *sum = parts[0] + parts[1];
      });
}
