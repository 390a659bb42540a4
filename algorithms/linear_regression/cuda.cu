// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/linear_regression/cuda_part.hpp"

// A block takes runs of rows, a thread packs of 16 bytes of each column, all loads of a run first.
namespace league::cuda::linear_regression {
namespace {

enum class Finish { atomic, last_team };

/// Adds the sums of a shard's rows. The last block adds those of all blocks in order, and takes the step where no other
/// shard has sums to wait for.
template <class T, int width, Finish finish>
__global__ void __launch_bounds__(most_lanes<width>, launch_bound(teams_at_once<width>))
    accumulate_rows(Columns<T> data, Rule rule, State state, bool alone, double* partials, double* sums,
                    unsigned* ticket) {
  const Line<T, width> line = line_of<T, width>(state.theta, data.features);
  if (*state.taken >= rule.steps) return;
  const Place place = place_of_thread();
  const Sums<double, terms<width>> mine = lane_sums(data, line, place);
  if constexpr (finish == Finish::atomic) {
    const Sums<double, terms<width>> of_block = blocks::block_sums(mine);
    if (place.lane == 0)
      for (int i = 0; i < terms<width>; ++i) atomicAdd(sums + i, of_block.values[i]);
  } else {
    if (!blocks::grid_sums(mine, partials, ticket, sums) || !alone) return;
    __syncthreads();
    for (int i = place.lane; i < rule.features + 2; i += place.lanes) take_step(rule, state, sums, i);
  }
}

template <class T, int width, Finish finish>
class Fused final : public CudaPart<T> {
 public:
  Fused(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaPart<T>(problem, context, shard, width), ticket_(this->queue(), 1) {
    ticket_.clear();
  }
  Launch configure(Launch launch) override {
    constexpr int rows_a_lane = pack_bytes<width> / static_cast<int>(sizeof(T));
    launch_ = this->resolved(launch, 256, most_lanes<width>, rows_a_lane, device_share<width>);
    if (finish == Finish::last_team)
      partials_ = Array<double>(this->queue(), std::int64_t{launch_.league} * terms<width>);
    return launch_;
  }
  void accumulate() override {
    accumulate_rows<T, width, finish><<<this->grid(launch_), this->block(launch_), 0, stream(this->queue())>>>(
        this->data(), this->rule_, this->state(), this->alone_, partials_.data(), this->sums_.data(), ticket_.data());
    check_launch();
  }
  void update() override {
    if (finish == Finish::atomic || !this->alone_) CudaPart<T>::update();
  }

 private:
  Launch launch_;
  Array<double> partials_;
  Array<unsigned> ticket_;
};

template <Finish finish, Execution execution>
std::unique_ptr<Prepared> prepare(const LinearRegression& problem, const Context& context) {
  return with_type<float, double>(problem.dtype, [&]<class T>() {
    return with_width(problem.features, [&]<int width>() {
      return solve<Fused<T, width, finish>>(problem, context, problem.steps, execution);
    });
  });
}

const Register<LinearRegression> fused{"fused", cuda::model, prepare<Finish::atomic, Execution::stepwise>};
const Register<LinearRegression> block_reduce{"block_reduce", cuda::model,
                                              prepare<Finish::last_team, Execution::stepwise>};
const Register<LinearRegression> graph{"graph", cuda::model, prepare<Finish::last_team, Execution::graph>};

}  // namespace
}  // namespace league::cuda::linear_regression
