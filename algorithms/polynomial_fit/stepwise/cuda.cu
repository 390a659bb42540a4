// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/cuda.hpp"

// A thread takes every lanes-th point; the last block adds the sums of all and takes the step.
namespace league::cuda::polynomial_fit {
namespace {

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
    update_all<><<<1, sums_per_step, 0, stream(queue())>>>(rule_, state(), sums_.data());
    check_launch();
  }

 private:
  DevicePoints<T> memory_;
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

const RegisterSolve<PolynomialFit> stepwise{"stepwise", model, by_type<Stepwise>};

}  // namespace
}  // namespace league::cuda::polynomial_fit
