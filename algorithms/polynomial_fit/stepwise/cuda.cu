// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/kept.hpp"
#include "algorithms/blocks/league_all_reduce_cuda.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/polynomial_fit/common/shard.hpp"
#include "backends/cuda/cuda.hpp"

// A thread takes every lanes-th point; the last block adds the sums of all and takes the step. `persistent`: one
// grid takes all steps, its threads keep their points in registers, its blocks are on the device at once. `moments`: a
// thread adds powers of every lanes-th pack, then one thread takes all steps on their sums.
namespace league::cuda::polynomial_fit {
namespace {

using namespace league::polynomial_fit;

__global__ void begin_all(Rule rule, State state) { begin_state(rule, state, static_cast<int>(threadIdx.x)); }
__global__ void update_all(Rule rule, State state, const double* sums) {
  take_step(rule, state, sums, static_cast<int>(threadIdx.x));
}

template <class T>
__global__ void __launch_bounds__(max_persistent_lanes, 1)
    accumulate_points(Points<T> points, Rule rule, State state, bool alone, double* partials, double* sums,
                      unsigned* ticket) {
  const auto cubic = Cubic<T>::of(state.theta);
  if (*state.taken >= rule.steps) return;
  const int lanes = blocks::block_group().size, lane = blocks::block_group().rank;
  const auto mine = lane_sums(points, cubic, std::int64_t{blockIdx.x} * lanes + lane, std::int64_t{gridDim.x} * lanes);
  if (!blocks::grid_sums(mine, partials, ticket, sums) || !alone) return;
  __syncthreads();
  for (int i = lane; i < sums_per_step; i += lanes) take_step(rule, state, sums, i);
}

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
__global__ void __launch_bounds__(max_persistent_lanes, 1)
    add_powers_of(Points<T> points, double* partials, double* sums, unsigned* ticket) {
  const int lanes = blocks::block_group().size, lane = blocks::block_group().rank;
  blocks::grid_sums(lane_powers(points, std::int64_t{blockIdx.x} * lanes + lane, std::int64_t{gridDim.x} * lanes),
                    partials, ticket, sums);
}
__global__ void __launch_bounds__(1) descend_on_moments(Rule rule, double points, const double* sums, State state) {
  descend(rule, points, sums, state);
}

template <class T>
using DevicePoints = PointMemory<T, Array>;

class CudaShard : public FitShard<Array> {
 public:
  using FitShard::FitShard;
  void begin() const override {
    begin_all<<<1, sums_per_step, 0, stream(queue())>>>(rule_, state());
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

template <class T>
class Stepwise final : public CudaShard {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard), memory_(*this, problem) {
    declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  Launch configure(Launch launch) override {
    launch_ = resolved<T>(launch, {0, 256 / warp_size, warp_size});
    declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * sums_per_step);
    return launch_;
  }
  void accumulate() const override {
    accumulate_points<<<static_cast<unsigned>(launch_.league), block(launch_), 0, stream(queue())>>>(
        memory_.points(), rule_, state(), is_alone(), partials_.data(), sums_.data(), ticket_.data());
    check_launch();
  }
  void update() const override {
    if (is_alone()) return;
    update_all<<<1, sums_per_step, 0, stream(queue())>>>(rule_, state(), sums_.data());
    check_launch();
  }

 private:
  DevicePoints<T> memory_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

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

template <class T>
class Moments final : public CudaShard {
 public:
  Moments(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, moment_sums), memory_(*this, problem) {
    declare_zeroed(ticket_, "polynomial_fit/ticket", 1);
  }
  Launch configure(Launch launch) override {
    launch_ = resolved<T>(launch, {0, 256 / warp_size, warp_size}, moment_share);
    declare(partials_, "polynomial_fit/partials", std::int64_t{launch_.league} * moment_sums);
    return launch_;
  }
  void begin() const override {}
  void accumulate() const override {
    add_powers_of<<<static_cast<unsigned>(launch_.league), block(launch_), 0, stream(queue())>>>(
        memory_.points(), partials_.data(), sums_.data(), ticket_.data());
    check_launch();
  }
  void update() const override {
    descend_on_moments<<<1, 1, 0, stream(queue())>>>(rule_, points_, sums_.data(), state());
    check_launch();
  }

 private:
  DevicePoints<T> memory_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

const RegisterSolve<PolynomialFit> stepwise{"stepwise", model, by_type<Stepwise>};
const RegisterWholeSolve<PolynomialFit> persistent{"persistent", model, by_type<Persistent>};
const RegisterWholeSolve<PolynomialFit> moments{"moments", model, by_type<Moments>};

}  // namespace
}  // namespace league::cuda::polynomial_fit
