// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums.hpp"
#include "algorithms/linear_regression/common/lanes.hpp"
#include "algorithms/linear_regression/common/shard.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::cuda::linear_regression {

using namespace league::linear_regression;

/// Position of this thread.
__device__ inline Place place_of_thread() {
  return {blockIdx.x, gridDim.x, static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x),
          static_cast<int>(blockDim.x * blockDim.y)};
}

template <int = 0>
__global__ void begin_all(Rule rule, State state, double weight, double bias) {
  for (int i = static_cast<int>(threadIdx.x); i < rule.features + 2; i += static_cast<int>(blockDim.x))
    begin_state(rule, state, weight, bias, i);
}
template <int = 0>
__global__ void update_all(Rule rule, State state, double* sums) {
  for (int i = static_cast<int>(threadIdx.x); i < rule.features + 2; i += static_cast<int>(blockDim.x)) {
    take_step(rule, state, sums, i);
    clear_sums(rule, sums, i);
  }
}

template <class T>
using DeviceRows = RowMemory<T, Array>;

/// The steps that are the same for all methods, and their launches.
class CudaShard : public FitShard<Array> {
 public:
  using FitShard::FitShard;
  void begin() const override {
    clear(sums_);
    begin_all<><<<1, threads, 0, stream(queue())>>>(rule_, state(), problem_.start_weight, problem_.start_bias);
    check_launch();
  }
  void update() const override {
    update_all<><<<1, threads, 0, stream(queue())>>>(rule_, state(), sums_.data());
    check_launch();
  }

 protected:
  static constexpr int threads = 64;

  template <class T>
  void clear(const Array<T>& array) const {
    check(cudaMemsetAsync(array.data(), 0, array.bytes(), stream(queue())));
  }
  /// The method's choice where the launch leaves it open: as many blocks as a device holds, fewer where a thread would
  /// have less than `rows_per_lane` rows; smaller blocks where one has enough threads. `share`: kernels with many
  /// registers take one in so many of its threads.
  [[nodiscard]] Launch resolved(Launch launch, int lanes, int max_lanes, std::int64_t rows_per_lane,
                                int share = 1) const {
    LaunchLimits allowed = limits;
    allowed.team_times_vector = std::min(allowed.team_times_vector, max_lanes);
    launch = resolve(launch, blocks::without_idle_lanes({0, lanes / warp_size, warp_size}, rows().size(), warp_size),
                     allowed);
    const std::int64_t in_block = std::int64_t{launch.team} * launch.vector;
    blocks::require_whole_subgroups(in_block, warp_size);
    if (launch.league > 0) return launch;
    const cudaDeviceProp device = properties(queue());
    const std::int64_t held = device.multiProcessorCount * device.maxThreadsPerMultiProcessor / share / in_block;
    const std::int64_t worth = ceil_div<std::int64_t>(rows().size(), in_block * rows_per_lane);
    launch.league = league_of(std::min(std::max<std::int64_t>(held, 1), worth));
    return launch;
  }
  static dim3 block(Launch launch) {
    return {static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team)};
  }
  static unsigned grid(Launch launch) { return static_cast<unsigned>(launch.league); }
};

}  // namespace league::cuda::linear_regression
