// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos_specialised.hpp"

namespace league::kokkos::sum::specialised {
namespace {

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T>
void atomic(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* sum = work.sums;
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::deep_copy(on.exec, Kokkos::View<Total<T>, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(sum), Total<T>{0});
  Kokkos::parallel_for(
      "sum/atomic", on.policy().set_scratch_size(0, scratch(lanes)), KOKKOS_LAMBDA(const Member& team) {
        const Total<T> total = adder<Total<T>>(team, lanes)([&](int lane) {
          Total<T> mine = 0;
          for_chunks(team, chunks, [&](std::int64_t chunk) {
            mine += sum_of_lane(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
          });
          return mine;
        });
        blocks::once_per_team(team, [&] { Kokkos::atomic_add(sum, total); });
      });
}

const RegisterSum variant{"atomic", several_bodies(specialised_model, true), []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_shard, configure, atomic<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::kokkos::sum::specialised
