// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// Reads of a table that fits into the first-level cache, which shares its memory with shared memory. Kokkos reserves 8
// bytes of shared memory per thread of a team, not per vector lane, in kernels without reductions too.
namespace findings {
namespace {

constexpr int team_size = 128, teams_per_multiprocessor = 16, passes = 8;
constexpr int packs = 208 * 1024 / static_cast<int>(sizeof(float4));

KOKKOS_INLINE_FUNCTION float sum_of(const float4* table, int lane) {
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (int i = lane; i < packs; i += team_size) {
      const float4 four = table[i];
      sum += (four.x + four.y) + (four.z + four.w);
    }
  return sum;
}

template <int vector>
void reserved_memory_kokkos(benchmark::State& state) {
  const int teams = multiprocessors() * teams_per_multiprocessor;
  const Floats x("x", 4 * packs), sums("sums", static_cast<std::size_t>(teams) * team_size);
  const auto* table = reinterpret_cast<const float4*>(x.data());
  measure(state, 1, [&] {
    Kokkos::parallel_for(
        "reserved_memory", Team(teams, team_size / vector, vector), KOKKOS_LAMBDA(const Member& team) {
          const int lanes = team_size;
          Kokkos::parallel_for(Kokkos::TeamVectorRange(team, lanes), [&](int lane) {
            sums(static_cast<std::size_t>(team.league_rank() * lanes + lane)) = sum_of(table, lane);
          });
        });
  });
}

__global__ void reserved_memory(const float4* table, float* sums) {
  const int lane = static_cast<int>(threadIdx.x);
  sums[static_cast<int>(blockIdx.x) * team_size + lane] = sum_of(table, lane);
}

// With so many bytes of shared memory per block that no thread uses.
template <int bytes>
void reserved_memory_cuda(benchmark::State& state) {
  const int teams = multiprocessors() * teams_per_multiprocessor;
  const Floats x("x", 4 * packs), sums("sums", static_cast<std::size_t>(teams) * team_size);
  const auto* table = reinterpret_cast<const float4*>(x.data());
  measure(state, 1, [&] { reserved_memory<<<teams, team_size, bytes, Exec().cuda_stream()>>>(table, sums.data()); });
}

FINDING(reserved_memory_kokkos<1>);
FINDING(reserved_memory_kokkos<8>);
FINDING(reserved_memory_cuda<0>);
FINDING(reserved_memory_cuda<144>);
FINDING(reserved_memory_cuda<1040>);

}  // namespace
}  // namespace findings
