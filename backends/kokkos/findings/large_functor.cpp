// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// Functors below and above the 512 bytes from which Kokkos 4.7 copies them to constant memory: time of a launch among
// many.
namespace findings {
namespace {

template <int bytes>
struct Functor {
  float* out;
  float values[(bytes - sizeof(float*)) / sizeof(float)];
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (team.team_rank() == 0) out[team.league_rank()] = values[team.league_rank() % 8];
  }
};

template <int bytes>
__global__ void large_functor(const Functor<bytes> functor) {
  if (threadIdx.x == 0) functor.out[blockIdx.x] = functor.values[blockIdx.x % 8];
}

constexpr int league = 128, team_size = 32, launches = 1000;

template <int bytes, bool is_light>
void large_functor_kokkos(benchmark::State& state) {
  const Floats out("out", league);
  const Functor<bytes> functor{out.data(), {}};
  const Team policy(league, team_size, 1);
  const auto light = Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
  measure(state, launches, [&] {
    if constexpr (is_light)
      Kokkos::parallel_for("large_functor", light, functor);
    else
      Kokkos::parallel_for("large_functor", policy, functor);
  });
}

template <int bytes>
void large_functor_cuda(benchmark::State& state) {
  const Floats out("out", league);
  const Functor<bytes> functor{out.data(), {}};
  measure(state, launches, [&] { large_functor<bytes><<<league, team_size, 0, Exec().cuda_stream()>>>(functor); });
}

FINDING(large_functor_kokkos<256, false>);
FINDING(large_functor_kokkos<1024, false>);
FINDING(large_functor_kokkos<1024, true>);
FINDING(large_functor_cuda<256>);
FINDING(large_functor_cuda<1024>);

}  // namespace
}  // namespace findings
