// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos.hpp"

namespace league::kokkos::sum {
namespace {

// A team takes one chunk after another, a lane its share of the packs of each; one reduction at the end.
template <class T>
void atomic(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const Elements<T> x(work.x, chunks.size);
  const Value<Total<T>> sum(work.sums);
  const int run = run_of<T>(chunks), lanes = on.launch.team * on.launch.vector;
  Kokkos::deep_copy(on.exec, sum, Total<T>{0});
  Kokkos::parallel_for(
      "sum/atomic", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        Total<T> total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, Total<T>& mine) {
              for_chunks(team, run, chunks, [&](std::int64_t chunk) {
                mine += x.sum(chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
              });
            },
            total);
        blocks::once_per_team(team, [&] { Kokkos::atomic_add(&sum(), total); });
      });
}

const RegisterSum variant{"atomic", once(), []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_shard, configure<T>, atomic<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::kokkos::sum
