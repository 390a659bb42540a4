// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/cluster_sums_cuda.hpp"
#include "algorithms/linear_regression/common/cuda.hpp"
#include "algorithms/linear_regression/common/resident.hpp"

// As `persistent`; the blocks are one cluster and send each other their sums through shared memory.
namespace league::cuda::linear_regression {
namespace {

template <class T, int width, int resident>
__global__ void __launch_bounds__(max_persistent_lanes, 1) take_all_steps(Columns<T> data, Rule rule, State state) {
  constexpr int n = terms<width>;
  extern __shared__ double scratch[];
  __shared__ blocks::cluster::Sums<n> of_cluster;
  const Place place = place_of_thread();
  const bool first = place.team == 0 && place.lane == 0;
  of_cluster.init();
  ResidentRows<T, resident> rows;
  rows.load(data, place);
  OwnTheta<width> theta;
  theta.load(state.theta, data.features);
  for (std::int64_t step = 0; step < rule.steps; ++step) {
    const Line<T, width> line = theta.template line<T>();
    Sums<LaneType<T, resident>, n> mine;
    if constexpr (resident > 0)
      mine = rows.sums(line);
    else
      mine = lane_sums(data, line, place, step);
    const auto sums = of_cluster.add(mine, static_cast<int>(place.teams), scratch, step);
    theta.step(rule.scale[0], sums.values);
    if (first) state.loss[step] = rule.loss_scale * sums.values[width + 1];
  }
  blocks::cluster::barrier();  // no block ends while others may store in it
  if (!first) return;
  theta.store(state.theta, data.features);
  *state.taken = rule.steps;
}

template <class T, int width>
class PersistentCluster final : public CudaShard {
 public:
  PersistentCluster(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, width), rows_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    constexpr int rows_per_lane = width == 1 ? max_resident<T> : 1;
    constexpr int few_lanes = width == 1 ? few_persistent_lanes : max_persistent_lanes;
    const bool chosen = launch.league == 0;
    constexpr std::int64_t most_kept = blocks::cluster::max_blocks * few_lanes * rows_per_lane;
    // more rows than the largest cluster keeps are read in each step, by as many lanes as there may be
    const int lanes = rows().size() > most_kept ? max_persistent_lanes : few_lanes;
    launch_ = resolved(launch, lanes, max_persistent_lanes, rows_per_lane);
    if (chosen && launch_.league > 1) launch_.league = blocks::cluster::max_blocks;
    bytes_ = blocks::sums_for_all_size<terms<width>>(launch_) * sizeof(double);
    require_cluster();
    return launch_;
  }
  void accumulate() const override {
    auto [config, attribute] = config_of(stream(queue()));
    config.attrs = &attribute;
    check(cudaLaunchKernelEx(&config, kernel(), rows_.here(), rule_, state()));
  }
  void update() const override {}

 private:
  using Steps = void (*)(Columns<T>, Rule, State);
  [[nodiscard]] Steps kernel() const {
    const std::int64_t lanes = std::int64_t{launch_.league} * launch_.team * launch_.vector;
    if constexpr (width == 1)
      if (rows().size() <= max_resident<T> * lanes) return take_all_steps<T, width, max_resident<T>>;
    return take_all_steps<T, width, 0>;
  }
  [[nodiscard]] std::pair<cudaLaunchConfig_t, cudaLaunchAttribute> config_of(cudaStream_t stream) const {
    cudaLaunchConfig_t config{};
    config.gridDim = grid(launch_);
    config.blockDim = block(launch_);
    config.dynamicSmemBytes = bytes_;
    config.stream = stream;
    config.numAttrs = 1;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {grid(launch_), 1, 1};
    return {config, attribute};
  }
  /// @throws Unsupported for a cluster that no part of the device holds
  void require_cluster() const {
    int held = 0;
    if (launch_.league <= blocks::cluster::max_blocks) {
      check(cudaFuncSetAttribute(kernel(), cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
      auto [config, attribute] = config_of(stream(queue()));
      config.attrs = &attribute;
      check(cudaOccupancyMaxActiveClusters(&held, kernel(), &config));
    }
    if (held == 0)
      throw Unsupported("league " + std::to_string(launch_.league) + ": a cluster of so many blocks of " +
                        std::to_string(launch_.team * launch_.vector) +
                        " threads is not held at the same time; launch no more than " +
                        std::to_string(blocks::cluster::max_blocks));
  }
  DeviceRows<T> rows_;
  Launch launch_;
  std::size_t bytes_ = 0;
};

const RegisterWholeSolve<LinearRegression> persistent_cluster{"persistent_cluster", model, by_width<PersistentCluster>};

}  // namespace
}  // namespace league::cuda::linear_regression
