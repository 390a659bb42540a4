// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/polynomial_fit/common/cuda.hpp"

// A thread adds powers of every lanes-th pack, then one thread takes all steps on their sums.
namespace league::cuda::polynomial_fit {
namespace {

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

const RegisterWholeSolve<PolynomialFit> moments{"moments", model, by_type<Moments>};

}  // namespace
}  // namespace league::cuda::polynomial_fit
