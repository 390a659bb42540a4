// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/one_pass.hpp"
#include "backends/kokkos/pass.hpp"
#include "tests/algorithms/axpy/axpy.hpp"

namespace league::kokkos {
namespace {

// A team takes `tile` consecutive elements at a time, each lane of its threads one.
void axpy(const Pass& on, Vector<const float> x, Vector<const float> y, Vector<float> sum) {
  const std::int64_t n = on.size(), tile = on.launch.tile;
  Kokkos::parallel_for(
      "axpy/plain", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for (std::int64_t first = team.league_rank() * tile; first < n; first += team.league_size() * tile)
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, first, first + tile < n ? first + tile : n),
                               [&](std::int64_t i) { sum(i) = 2 * x(i) + y(i); });
      });
}

const OnePass<Axpy> plain{"plain", model, {"x", "y", "sum"}, kernel("axpy", axpy)};

}  // namespace
}  // namespace league::kokkos
