// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/kokkos/findings/findings.hpp"

// Reductions over ThreadVectorRange of a struct of several values, as statistics of several columns need them. Each
// warp reduces `rounds` structs in turn; a lane's struct is made in registers.
namespace findings {

template <int values>
struct Sums {
  float value[values]{};
  KOKKOS_FUNCTION Sums& operator+=(const Sums& other) {
    for (int i = 0; i < values; ++i) value[i] += other.value[i];
    return *this;
  }
};

}  // namespace findings

template <int values>
struct Kokkos::reduction_identity<findings::Sums<values>> {
  KOKKOS_FUNCTION static findings::Sums<values> sum() { return {}; }
};

namespace findings {
namespace {

constexpr int warps = 8, lanes = 32, rounds = 256;

/// Of all values, so that none can be left out.
template <int values>
KOKKOS_INLINE_FUNCTION float mean(const Sums<values>& total) {
  float sum = 0;
  for (int i = 0; i < values; ++i) sum += total.value[i];
  return sum * (1.0F / static_cast<float>(lanes * values));
}

template <int values>
KOKKOS_INLINE_FUNCTION void add_share(Sums<values>& mine, int lane, float last) {
  for (int i = 0; i < values; ++i) mine.value[i] += last + static_cast<float>(lane + i);
}

template <int values>
void struct_reduction_kokkos(benchmark::State& state) {
  const int league = 4 * multiprocessors();
  const Floats out("out", static_cast<std::size_t>(league * warps));
  measure(state, 10, [&] {
    Kokkos::parallel_for(
        "struct_reduction", Team(league, warps, lanes), KOKKOS_LAMBDA(const Member& team) {
          float last = 0;
          for (int round = 0; round < rounds; ++round) {
            Sums<values> total;
            Kokkos::parallel_reduce(
                Kokkos::ThreadVectorRange(team, lanes),
                [&](int lane, Sums<values>& mine) { add_share(mine, lane, last); }, total);
            last = mean(total);
          }
          const int warp = team.league_rank() * warps + team.team_rank();
          Kokkos::single(Kokkos::PerThread(team), [&] { out(static_cast<std::size_t>(warp)) = last; });
        });
  });
}

template <int values>
__global__ void struct_reduction(float* out) {
  float last = 0;
  for (int round = 0; round < rounds; ++round) {
    Sums<values> total;
    add_share(total, static_cast<int>(threadIdx.x), last);
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      for (int i = 0; i < values; ++i) total.value[i] += __shfl_xor_sync(0xffffffffU, total.value[i], distance);
    last = mean(total);
  }
  if (threadIdx.x == 0) out[blockIdx.x * warps + threadIdx.y] = last;
}

template <int values>
void struct_reduction_cuda(benchmark::State& state) {
  const int league = 4 * multiprocessors();
  const Floats out("out", static_cast<std::size_t>(league * warps));
  measure(state, 10,
          [&] { struct_reduction<values><<<league, dim3(lanes, warps), 0, Exec().cuda_stream()>>>(out.data()); });
}

FINDING(struct_reduction_kokkos<1>);
FINDING(struct_reduction_cuda<1>);
FINDING(struct_reduction_kokkos<3>);
FINDING(struct_reduction_cuda<3>);
FINDING(struct_reduction_kokkos<10>);
FINDING(struct_reduction_cuda<10>);

}  // namespace
}  // namespace findings
