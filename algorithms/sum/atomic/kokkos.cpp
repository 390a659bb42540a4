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
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::deep_copy(on.exec, sum, Total<T>{0});
  Kokkos::parallel_for(
      "sum/atomic", on.policy(), KOKKOS_LAMBDA(const Member& team) {
        Total<T> total = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, lanes),
            [&](int lane, Total<T>& mine) {
              for_chunks(team, chunks, [&](std::int64_t chunk) {
                mine += x.sum(chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
              });
            },
            total);
        blocks::once_per_team(team, [&] { Kokkos::atomic_add(&sum(), total); });
      });
}

// Each team has one reduction and one atomic addition: by default it takes four chunks or more, as long as the teams
// have half as many lanes as a device holds at once.
template <class T>
Launch configure_atomic(Queue& queue, Launch launch, Chunks chunks) {
  const bool chosen = launch.league > 0;
  launch = configure<T>(queue, launch, chunks);
  if (chosen) return launch;
  const std::int64_t held = Exec().concurrency() / (2 * launch.team * launch.vector);
  launch.league =
      static_cast<int>(std::min<std::int64_t>(launch.league, std::max<std::int64_t>({chunks.count / 4, held, 1})));
  return launch;
}

const RegisterSum variant{"atomic", once(), []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_shard, configure_atomic<T>, atomic<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::kokkos::sum
