// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/polynomial_fit/common/lanes.hpp"
#include "algorithms/polynomial_fit/common/shard.hpp"
#include "backends/cuda/cuda.hpp"

/// What the kernels in CUDA share: their launches, and the steps that are the same for all methods.
namespace league::cuda::polynomial_fit {

using namespace league::polynomial_fit;

template <int = 0>
__global__ void begin_all(Rule rule, State state) {
  begin_state(rule, state, static_cast<int>(threadIdx.x));
}
template <int = 0>
__global__ void update_all(Rule rule, State state, const double* sums) {
  take_step(rule, state, sums, static_cast<int>(threadIdx.x));
}

template <class T>
using DevicePoints = PointMemory<T, Array>;

class CudaShard : public FitShard<Array> {
 public:
  using FitShard::FitShard;
  void begin() const override {
    begin_all<><<<1, sums_per_step, 0, stream(queue())>>>(rule_, state());
    check_launch();
  }

 protected:
  /// The method's choice where the launch leaves it open; of the league, where a thread would have less than `points`.
  /// `share`: kernels with many registers take one in so many of a device's threads.
  template <class T>
  [[nodiscard]] Launch resolved(Launch launch, Launch automatic, int share = 1, std::int64_t points = 8) const {
    LaunchLimits allowed = limits;
    allowed.team_times_vector = std::min(allowed.team_times_vector, max_persistent_lanes);
    launch = resolve(launch, blocks::without_idle_lanes(automatic, rows().size(), warp_size), allowed);
    const int lanes = launch.team * launch.vector;
    blocks::require_whole_subgroups(lanes, warp_size);
    const cudaDeviceProp device = properties(queue());
    const std::int64_t held = device.multiProcessorCount * device.maxThreadsPerMultiProcessor / share / lanes;
    if (launch.league == 0) launch.league = league_of(std::min(held, ceil_div(rows().size(), lanes * points)));
    return launch;
  }
  static dim3 block(Launch launch) {
    return {static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team)};
  }
};

}  // namespace league::cuda::polynomial_fit
