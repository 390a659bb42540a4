// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/kept.hpp"
#include "algorithms/blocks/league_all_reduce_cuda.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/polynomial_fit/common/cuda.hpp"

// One grid takes all steps, its threads keep their points in registers, its blocks are on the device at once.
namespace league::cuda::polynomial_fit {
namespace {

template <class T, int resident, bool alone>
__global__ void __launch_bounds__(max_persistent_lanes, 1)
    take_all_steps(Points<T> points, Rule rule, State state, stamped::Word* board) {
  extern __shared__ double scratch[];
  const auto block = blocks::block_group();
  const std::int64_t lane = std::int64_t{blockIdx.x} * block.size + block.rank,
                     lanes = std::int64_t{gridDim.x} * block.size;
  ResidentPoints<T, resident> mine;
  mine.load(points, lane, lanes, [](T power) { return blocks::kept(power); });
  double theta[terms];
  for (int p = 0; p < terms; ++p) theta[p] = state.theta[p];
  for (std::int64_t step = 0; step < rule.steps; ++step) {
    const auto cubic = Cubic<T>::of(theta);
    Sums<LaneType<T, resident>, sums_per_step> of_lane;
    if constexpr (resident > 0)
      of_lane = mine.sums(cubic);
    else
      of_lane = lane_sums(points, cubic, lane, lanes);
    const auto sums = blocks::league_sums_for_all<alone>(of_lane, scratch, board, step);
    for (int p = 0; p < terms; ++p) theta[p] -= rule.scale * sums.values[p];
    if (lane == 0) state.loss[step] = sums.values[terms];
  }
  if (lane != 0) return;
  for (int p = 0; p < terms; ++p) state.theta[p] = theta[p];
  *state.taken = rule.steps;
}

template <class T>
class Persistent final : public CudaShard {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard), memory_(*this, problem) {
    require_alone(context);
  }
  Launch configure(Launch launch) override {
    const bool chosen = launch.league == 0;
    launch_ = resolved<T>(launch, {0, 128 / warp_size, warp_size}, 1, max_resident);
    bytes_ = static_cast<std::size_t>(blocks::league_sums_size<sums_per_step>(launch_)) * sizeof(double);
    const int held = blocks::blocks_at_once(queue(), launch_, bytes_, take_all_steps<T, max_resident, false>,
                                            take_all_steps<T, 0, false>);
    if (chosen) launch_.league = std::min(launch_.league, held);
    blocks::require_at_once(launch_, held);
    declare(board_, "polynomial_fit/board", blocks::league_sums_words<sums_per_step>(launch_.league));
    return launch_;
  }
  void begin() const override {
    CudaShard::begin();
    check(cudaMemsetAsync(board_.data(), 0, board_.bytes(), stream(queue())));
  }
  void accumulate() const override {
    const bool fits = rows().size() <= std::int64_t{max_resident} * launch_.league * launch_.team * launch_.vector;
    const auto kernel = !fits                 ? take_all_steps<T, 0, false>
                        : launch_.league == 1 ? take_all_steps<T, max_resident, true>
                                              : take_all_steps<T, max_resident, false>;
    kernel<<<static_cast<unsigned>(launch_.league), block(launch_), bytes_, stream(queue())>>>(memory_.points(), rule_,
                                                                                               state(), board_.data());
    check_launch();
  }
  void update() const override {}

 private:
  DevicePoints<T> memory_;
  Launch launch_;
  std::size_t bytes_ = 0;
  Array<stamped::Word> board_;
};

const RegisterWholeSolve<PolynomialFit> persistent{"persistent", model, by_type<Persistent>};

}  // namespace
}  // namespace league::cuda::polynomial_fit
