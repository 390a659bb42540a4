// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// Reductions over a team for each tile of an array that is read once: how much of the memory's bandwidth is left.
namespace findings {
namespace {

constexpr int team_size = 256, packs = 4;
constexpr int tile = team_size * packs;  // of float4
constexpr std::size_t size = std::size_t{1} << 28;
constexpr int tiles = static_cast<int>(size / 4 / tile);

KOKKOS_INLINE_FUNCTION float sum_of(const float4* from, int lane) {
  float sum = 0;
  for (int pack = 0; pack < packs; ++pack) {
    const float4 four = from[lane + pack * team_size];
    sum += (four.x + four.y) + (four.z + four.w);
  }
  return sum;
}

void team_reduction_kokkos(benchmark::State& state) {
  const Floats x("x", size), sums("sums", static_cast<std::size_t>(tiles));
  const auto* values = reinterpret_cast<const float4*>(x.data());
  measure(state, 1, [&] {
    Kokkos::parallel_for(
        "team_reduction", Team(tiles, team_size, 1), KOKKOS_LAMBDA(const Member& team) {
          const float4* from = values + static_cast<std::ptrdiff_t>(team.league_rank()) * tile;
          float total = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, team_size), [&](int lane, float& mine) { mine += sum_of(from, lane); },
              total);
          Kokkos::single(Kokkos::PerTeam(team), [&] { sums(static_cast<std::size_t>(team.league_rank())) = total; });
        });
  });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size * sizeof(float)));
}

__global__ void team_reduction(const float4* values, float* sums) {
  __shared__ float of_warp[team_size / 32];
  const int lane = static_cast<int>(threadIdx.x);
  float total = sum_of(values + static_cast<std::ptrdiff_t>(blockIdx.x) * tile, lane);
  for (int distance = 16; distance > 0; distance /= 2) total += __shfl_xor_sync(0xffffffffU, total, distance);
  if (lane % 32 == 0) of_warp[lane / 32] = total;
  __syncthreads();
  if (lane >= 32) return;
  total = lane < team_size / 32 ? of_warp[lane] : 0;
  for (int distance = team_size / 64; distance > 0; distance /= 2)
    total += __shfl_xor_sync(0xffffffffU, total, distance);
  if (lane == 0) sums[blockIdx.x] = total;
}

void team_reduction_cuda(benchmark::State& state) {
  const Floats x("x", size), sums("sums", static_cast<std::size_t>(tiles));
  const auto* values = reinterpret_cast<const float4*>(x.data());
  measure(state, 1, [&] { team_reduction<<<tiles, team_size, 0, Exec().cuda_stream()>>>(values, sums.data()); });
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size * sizeof(float)));
}

FINDING(team_reduction_kokkos);
FINDING(team_reduction_cuda);

}  // namespace
}  // namespace findings
