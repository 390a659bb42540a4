// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/kokkos_specialised.hpp"

namespace league::kokkos::sum::specialised {
namespace {

// A team takes one chunk after another; a lane every lanes-th pack of it.
template <class T>
void two_stage(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  const T* x = work.x;
  Total<T>* partials = work.sums;
  const int lanes = on.launch.team * on.launch.vector;
  Kokkos::parallel_for(
      "sum/two_stage", on.policy().set_scratch_size(0, scratch(lanes)), KOKKOS_LAMBDA(const Member& team) {
        const auto sum = adder<Total<T>>(team, lanes);
        for_chunks(team, chunks, [&](std::int64_t chunk) {
          const T* from = x + chunk * chunks.chunk;
          const int size = chunks.size_of(chunk);
          const Total<T> total = sum([&](int lane) { return sum_of_lane(from, size, lane, lanes); });
          blocks::once_per_team(team, [&] { partials[chunk] = total; });
        });
      });
}

const RegisterSum variant{"two_stage", several_bodies(specialised_model, true), []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::kokkos::sum::specialised
