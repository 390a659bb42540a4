// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/logistic_regression/common/newton_step.hpp"
#include "algorithms/logistic_regression/common/shard.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::cuda::logistic_regression {

using namespace league::logistic;  // NOLINT: the algorithm's own words
using blocks::block_group, blocks::comes_last;

/// Maximum threads per block, limited by registers.
inline constexpr int max_threads = 256;

/// theta converted to the data's type, zero-padded. @pre all threads call
template <class T, int n>
__device__ void load_weights(const State& state, int features, T (&weights)[n]) {
  const auto team = block_group();
  for (int j = team.rank; j < n; j += team.size) weights[j] = j <= features ? static_cast<T>(state.theta[j]) : T{0};
  __syncthreads();
}

[[maybe_unused]] static __global__ void begin_once(int features, State state) {
  begin_state(block_group(), features, state);
}
[[maybe_unused]] static __global__ void descend_once(Rule rule, State state) {
  __shared__ double scratch[look_scratch(LogisticRegression::max_features)];
  descend(block_group(), rule, state, scratch);
}

inline std::size_t bytes_of(int doubles) { return sizeof(double) * static_cast<std::size_t>(doubles); }

inline dim3 block_of(const Launch& launch) {
  return {static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team), 1};
}

inline constexpr int small = 128;  ///< threads of a single-block kernel

/// Sets the state before the first step.
template <class T>
void begin_solve(const SolveMemory<Array, T>& memory) {
  begin_once<<<1, small, 0, stream(memory.shard.queue())>>>(memory.features, memory.state());
  check_launch();
}

/// Takes the gradient step from the sums.
template <class T>
void descend_alone(const SolveMemory<Array, T>& memory) {
  descend_once<<<1, small, 0, stream(memory.shard.queue())>>>(memory.rule, memory.state());
  check_launch();
}

/// The default launch: as many blocks as are resident at once, none without rows. A block takes `tile(threads)` rows at
/// a time, and has at most `max_team` threads.
template <class Tile>
Launch resolve_for(const VariantShard& shard, Launch launch, int team, int blocks_per_multiprocessor, const Tile& tile,
                   int max_team = max_threads) {
  launch = resolve(launch, {0, team, 1}, {max_team, warp_size, "logistic_regression on " + std::string(dialect)});
  launch.tile = tile(launch.team * launch.vector);
  if (launch.league == 0)
    launch.league = std::min(league_of(ceil_div<std::int64_t>(shard.rows().size(), std::max(launch.tile, 1))),
                             multiprocessors(shard) * blocks_per_multiprocessor);
  return launch;
}

}  // namespace league::cuda::logistic_regression
