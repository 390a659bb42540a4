// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos.hpp"

#include "algorithms/sum/common/transfers.hpp"

namespace league::kokkos::sum {
namespace {

// A team takes one chunk after another, a lane its share of the packs.
template <class T>
void two_stage(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const Elements<T> x(work.x, chunks.size);
  const Vector<Total<T>> partials(work.sums, static_cast<std::size_t>(chunks.count));
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/two_stage", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const int size = chunks.size_of(chunk);
          Total<T> total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamVectorRange(team, lanes),
              [&](int lane, Total<T>& mine) { mine += x.sum(chunk * chunks.chunk, size, lane, lanes); }, total);
          blocks::once_per_team(team, [&] { partials(chunk) = total; });
        });
      });
}

constexpr auto kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_chunk, configure<T>, two_stage<T>, finish<T>};
};

const RegisterSum variant{"two_stage", once(), kernels};
// On a host both copies of a transfer are within host memory: this only tests the orderings.
const RegisterTransfers transfers{once(), kernels};

}  // namespace
}  // namespace league::kokkos::sum
