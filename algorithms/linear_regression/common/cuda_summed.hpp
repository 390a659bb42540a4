// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/shard_sums.hpp"
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/linear_regression/common/cuda.hpp"

// A block takes runs of rows, a thread packs of 16 bytes of each column, all loads of a run first.
namespace league::cuda::linear_regression {
enum class Combine { atomic, last_team };

/// Adds the sums of a shard's rows. The last block adds those of all blocks in order, and those of all shards, and
/// takes the step. (`__grid_constant__`: without it every thread copies the rule, an array indexed at run
/// time, to its local memory.)
template <class T, int width, Combine combine, class Shards>
__global__ void __launch_bounds__(max_lanes<width>, launch_bound(teams_at_once<width>))
    accumulate_rows(Columns<T> data, const __grid_constant__ Rule rule, State state, Shards shards, double* partials,
                    double* sums, unsigned* ticket) {
  const Line<T, width> line = line_of<T, width>(state.theta, data.features);
  const std::int64_t step = *state.taken;
  if (step >= rule.steps) return;
  const Place place = place_of_thread();
  const Sums<double, terms<width>> mine = lane_sums(data, line, place, step);
  if constexpr (combine == Combine::atomic) {
    const Sums<double, terms<width>> of_block = blocks::block_sums(mine);
    if (place.lane == 0)
      for (int i = 0; i < terms<width>; ++i) atomicAdd(sums + i, of_block.values[i]);
  } else {
    if (!blocks::grid_sums(mine, partials, ticket, sums) || !shards.takes_step) return;
    __syncthreads();
    shards.add(blocks::block_group(), terms<width>, sums, blocks::CudaAtomics{});
    for (int i = place.lane; i < rule.features + 2; i += place.lanes) take_step(rule, state, sums, i);
  }
}

template <class T, int width, Combine combine>
class Summed final : public CudaShard {
 public:
  Summed(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, width), rows_(*this, problem) {
    declare_zeroed(ticket_, "linear_regression/ticket", 1);
  }
  Launch configure(Launch launch) override {
    constexpr int rows_per_lane = pack_bytes<width> / static_cast<int>(sizeof(T));
    launch_ = resolved(launch, 256, max_lanes<width>, rows_per_lane, device_share<width>);
    if (combine == Combine::last_team)
      declare(partials_, "linear_regression/partials", std::int64_t{launch_.league} * terms<width>);
    return launch_;
  }
  void accumulate() const override {
    const auto launch = [this]<class Shards>(const Shards& shards) {
      accumulate_rows<T, width, combine><<<grid(launch_), block(launch_), 0, stream(queue())>>>(
          rows_.here(), rule_, state(), shards, partials_.data(), sums_.data(), ticket_.data());
    };
    if constexpr (combine == Combine::last_team)
      blocks::with_shards(shards_, launch);
    else
      launch(blocks::OwnSums{});
    check_launch();
  }
  void update() const override {
    if (combine == Combine::atomic || !shards_.takes_step) CudaShard::update();
  }
  [[nodiscard]] bool can_connect() const override { return combine == Combine::last_team; }
  void connect(const DeviceView& view) override { shards_ = {true, view}; }

 private:
  DeviceRows<T> rows_;
  Launch launch_;
  blocks::ShardSums shards_{is_alone()};
  Array<double> partials_;
  Array<unsigned> ticket_;
};

}  // namespace league::cuda::linear_regression
