// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/polynomial_fit/part.hpp"
#include "backends/cuda/cuda.hpp"

// A thread takes every lanes-th point; the last block adds the sums of all and takes the step. `persistent`: one block
// takes all steps, its threads keep their points in registers.
namespace league::cuda::polynomial_fit {
namespace {

using namespace league::polynomial_fit;

__device__ int lane_of_block() { return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); }
__device__ int lanes_of_block() { return static_cast<int>(blockDim.x * blockDim.y); }

__global__ void begin_all(Rule rule, State state) { begin_state(rule, state, static_cast<int>(threadIdx.x)); }
__global__ void update_all(Rule rule, State state, const double* sums) {
  take_step(rule, state, sums, static_cast<int>(threadIdx.x));
}

template <class T>
__global__ void __launch_bounds__(most_persistent_lanes<T>, 1)
    accumulate_points(Points<T> points, Rule rule, State state, bool alone, double* partials, double* sums,
                      unsigned* ticket) {
  const auto cubic = Cubic<T>::of(state.theta);
  if (*state.taken >= rule.steps) return;
  const int lanes = lanes_of_block(), lane = lane_of_block();
  const auto mine = lane_sums(points, cubic, std::int64_t{blockIdx.x} * lanes + lane, std::int64_t{gridDim.x} * lanes);
  if (!blocks::grid_sums(mine, partials, ticket, sums) || !alone) return;
  __syncthreads();
  for (int i = lane; i < sums_a_step; i += lanes) take_step(rule, state, sums, i);
}

template <class T, int resident>
__global__ void __launch_bounds__(most_persistent_lanes<T>, 1)
    take_all_steps(Points<T> points, Rule rule, State state) {
  extern __shared__ double scratch[];
  const int lanes = lanes_of_block(), lane = lane_of_block();
  ResidentPoints<T, resident> mine;
  mine.load(points, lane, lanes);
  double theta[terms];
  for (int p = 0; p < terms; ++p) theta[p] = state.theta[p];
  for (std::int64_t step = 0; step < rule.steps; ++step) {
    const auto cubic = Cubic<T>::of(theta);
    Sums<LaneType<T, resident>, sums_a_step> of_lane;
    if constexpr (resident > 0)
      of_lane = mine.sums(cubic);
    else
      of_lane = lane_sums(points, cubic, lane, lanes);
    const auto sums = blocks::sums_for_all(of_lane, scratch, step);
    for (int p = 0; p < terms; ++p) theta[p] -= rule.scale * sums.values[p];
    if (lane == 0) state.loss[step] = sums.values[terms];
  }
  if (lane != 0) return;
  for (int p = 0; p < terms; ++p) state.theta[p] = theta[p];
  *state.taken = rule.steps;
}

template <class T>
class CudaPart : public FitPart<T, Array> {
 public:
  CudaPart(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : FitPart<T, Array>(problem, context, shard, [&]<class U>(const char*, std::int64_t size) {
          return Array<U>(context.runtime.queue(shard.device), size);
        }) {}
  void begin() override {
    begin_all<<<1, sums_a_step, 0, stream(this->queue())>>>(this->rule_, this->state());
    check_launch();
  }

 protected:
  /// The method's choice where the launch leaves it open; of the league, where a thread would have too few points.
  [[nodiscard]] Launch resolved(Launch launch, Launch standard) const {
    LaunchLimits most = limits;
    most.team_times_vector = std::min(most.team_times_vector, most_persistent_lanes<T>);
    launch = resolve(launch, standard, most);
    const int lanes = launch.team * launch.vector;
    if (lanes % warp_size != 0)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": these sums need a multiple of " +
                        std::to_string(warp_size));
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, this->queue().device().index));
    const std::int64_t held = device.multiProcessorCount * device.maxThreadsPerMultiProcessor / lanes;
    if (launch.league == 0)
      launch.league = league_of(std::min(held, ceil_div<std::int64_t>(this->rows().size(), lanes * 8)));
    return launch;
  }
  static dim3 block(Launch launch) {
    return {static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team)};
  }
};

template <class T>
class Stepwise final : public CudaPart<T> {
 public:
  Stepwise(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : CudaPart<T>(problem, context, shard), ticket_(this->queue(), 1) {
    ticket_.clear();
  }
  Launch configure(Launch launch) override {
    launch_ = this->resolved(launch, {0, 256 / warp_size, warp_size});
    partials_ = Array<double>(this->queue(), std::int64_t{launch_.league} * sums_a_step);
    return launch_;
  }
  void accumulate() override {
    accumulate_points<<<static_cast<unsigned>(launch_.league), this->block(launch_), 0, stream(this->queue())>>>(
        this->points(), this->rule_, this->state(), this->alone_, partials_.data(), this->sums_.data(), ticket_.data());
    check_launch();
  }
  void update() override {
    if (this->alone_) return;
    update_all<<<1, sums_a_step, 0, stream(this->queue())>>>(this->rule_, this->state(), this->sums_.data());
    check_launch();
  }

 private:
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

template <class T>
class Persistent final : public CudaPart<T> {
 public:
  Persistent(const PolynomialFit& problem, const Context& context, const Shard& shard)
      : CudaPart<T>(problem, context, shard) {
    require_one_device(context);
  }
  Launch configure(Launch launch) override {
    if (launch.league > 1) throw Unsupported("league " + std::to_string(launch.league) + ": one block takes all steps");
    return launch_ = this->resolved(launch, {1, 128 / warp_size, warp_size});
  }
  void accumulate() override {
    const auto bytes = static_cast<std::size_t>(blocks::sums_for_all_size<sums_a_step>(launch_)) * sizeof(double);
    const bool fits = this->rows().size() <= std::int64_t{most_resident} * launch_.team * launch_.vector;
    const auto kernel = fits ? take_all_steps<T, most_resident> : take_all_steps<T, 0>;
    kernel<<<1, this->block(launch_), bytes, stream(this->queue())>>>(this->points(), this->rule_, this->state());
    check_launch();
  }
  void update() override {}

 private:
  Launch launch_;
};

template <Execution execution>
std::unique_ptr<Prepared> prepare(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Stepwise<T>>(problem, context, problem.steps, execution); });
}
std::unique_ptr<Prepared> prepare_persistent(const PolynomialFit& problem, const Context& context) {
  return with_type<float, double>(
      problem.dtype, [&]<class T>() { return solve<Persistent<T>>(problem, context, 1, Execution::stepwise); });
}

const Register<PolynomialFit> stepwise{"stepwise", cuda::model, prepare<Execution::stepwise>};
const Register<PolynomialFit> graph{"graph", cuda::model, prepare<Execution::graph>};
const Register<PolynomialFit> persistent{"persistent", cuda::model, prepare_persistent};

}  // namespace
}  // namespace league::cuda::polynomial_fit
