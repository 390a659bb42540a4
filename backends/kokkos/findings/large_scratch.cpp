// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// A table in a team's scratch memory from which each thread takes values at random: level 0 is shared memory, of which
// Kokkos 4.7 gives a team 40,936 bytes and the GPU five times as many; level 1 is global memory.
namespace findings {
namespace {

constexpr int team_size = 512, takes = 1024;

KOKKOS_INLINE_FUNCTION float take(const float* table, int size, unsigned seed) {
  float sum = 0;
  for (int i = 0; i < takes; ++i) {
    seed = seed * 1664525U + 1013904223U;
    sum += table[(seed >> 8) % static_cast<unsigned>(size)];
  }
  return sum;
}

void large_scratch_kokkos(benchmark::State& state) {
  const int level = static_cast<int>(state.range(0)), bytes = static_cast<int>(state.range(1));
  const int league = multiprocessors(), size = bytes / static_cast<int>(sizeof(float));
  if (bytes > Team::scratch_size_max(level)) {
    state.SkipWithError(("a team has " + std::to_string(Team::scratch_size_max(level)) + " bytes").c_str());
    return;
  }
  const Floats out("out", static_cast<std::size_t>(league * team_size));
  const auto policy = Team(league, team_size, 1).set_scratch_size(level, Kokkos::PerTeam(bytes));
  measure(state, 10, [&] {
    Kokkos::parallel_for(
        "large_scratch", policy, KOKKOS_LAMBDA(const Member& team) {
          auto* table = static_cast<float*>(team.team_scratch(level).get_shmem(bytes));
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](int i) { table[i] = static_cast<float>(i); });
          team.team_barrier();
          const int thread = team.league_rank() * team_size + team.team_rank();
          out(static_cast<std::size_t>(thread)) = take(table, size, static_cast<unsigned>(thread));
        });
  });
}

__global__ void large_scratch(float* out, int size) {
  extern __shared__ float table[];
  for (int i = static_cast<int>(threadIdx.x); i < size; i += team_size) table[i] = static_cast<float>(i);
  __syncthreads();
  const unsigned thread = blockIdx.x * team_size + threadIdx.x;
  out[thread] = take(table, size, thread);
}

void large_scratch_cuda(benchmark::State& state) {
  const int bytes = static_cast<int>(state.range(0)), league = multiprocessors();
  const Floats out("out", static_cast<std::size_t>(league * team_size));
  check(cudaFuncSetAttribute(large_scratch, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  measure(state, 10, [&] {
    large_scratch<<<league, team_size, static_cast<std::size_t>(bytes), Exec().cuda_stream()>>>(out.data(), bytes / 4);
  });
}

constexpr int fits = 40'000, does_not = 160'000;
FINDING(large_scratch_kokkos)->Args({0, fits})->Args({0, does_not})->Args({1, fits})->Args({1, does_not});
FINDING(large_scratch_cuda)->Arg(fits)->Arg(does_not);

}  // namespace
}  // namespace findings
