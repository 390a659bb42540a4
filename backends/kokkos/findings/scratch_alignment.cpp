// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <type_traits>

#include "backends/kokkos/findings/findings.hpp"

// Dot products with weights in a team's scratch memory. Kokkos aligns what `get_shmem_aligned` returns, but the
// compiler does not know: it loads 4 bytes at a time, where it takes 16 of an array that is declared aligned.
namespace findings {
namespace {

constexpr int team_size = 512, width = 32, size = 8192, rounds = 4;
constexpr std::size_t bytes = size * sizeof(float);

struct alignas(16) Four {
  float values[4];
};

KOKKOS_INLINE_FUNCTION Four four(const float* weights, int i) {
  const float* from = weights + 4 * i;
  return {{from[0], from[1], from[2], from[3]}};
}
KOKKOS_INLINE_FUNCTION Four four(const Four* weights, int i) { return weights[i]; }

template <class Weights>
KOKKOS_INLINE_FUNCTION float products(const Weights* weights, int thread) {
  float x[width], sum = 0;
  for (int i = 0; i < width; ++i) x[i] = static_cast<float>(thread + i);
#pragma unroll 1
  for (int first = 0; first < rounds * size; first += width)
#pragma unroll
    for (int i = 0; i < width; i += 4) {
      const Four w = four(weights, (first % size + i) / 4);
      for (int j = 0; j < 4; ++j) sum += w.values[j] * x[i + j];
    }
  return sum;
}

enum class Hint { none, assumed, type };

/// The pointer alone; with the promise that it is aligned; or to a type that is.
template <Hint hint>
void scratch_alignment_kokkos(benchmark::State& state) {
  const int league = 2 * multiprocessors();
  const Floats out("out", static_cast<std::size_t>(league * team_size));
  const auto policy = Team(league, team_size, 1).set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(bytes) + 16));
  measure(state, 10, [&] {
    Kokkos::parallel_for(
        "scratch_alignment", policy, KOKKOS_LAMBDA(const Member& team) {
          void* memory = team.team_scratch(0).get_shmem_aligned(std::size_t{bytes}, 16);
          if constexpr (hint == Hint::assumed) memory = __builtin_assume_aligned(memory, 16);
          auto* weights = static_cast<float*>(memory);
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, size), [&](int i) { weights[i] = static_cast<float>(i); });
          team.team_barrier();
          const int thread = team.league_rank() * team_size + team.team_rank();
          using Type = std::conditional_t<hint == Hint::type, Four, float>;
          out(static_cast<std::size_t>(thread)) = products(static_cast<const Type*>(memory), thread);
        });
  });
}

__global__ void scratch_alignment(float* out) {
  extern __shared__ __align__(16) float weights[];
  for (int i = static_cast<int>(threadIdx.x); i < size; i += team_size) weights[i] = static_cast<float>(i);
  __syncthreads();
  const unsigned thread = blockIdx.x * team_size + threadIdx.x;
  out[thread] = products(weights, static_cast<int>(thread));
}

void scratch_alignment_cuda(benchmark::State& state) {
  const int league = 2 * multiprocessors();
  const Floats out("out", static_cast<std::size_t>(league * team_size));
  measure(state, 10, [&] { scratch_alignment<<<league, team_size, bytes, Exec().cuda_stream()>>>(out.data()); });
}

FINDING(scratch_alignment_kokkos<Hint::none>);
FINDING(scratch_alignment_kokkos<Hint::assumed>);
FINDING(scratch_alignment_kokkos<Hint::type>);
FINDING(scratch_alignment_cuda);

}  // namespace
}  // namespace findings
