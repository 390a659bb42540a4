// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/linear_regression/common/cuda_gram.hpp"
#include "algorithms/linear_regression/common/moments.hpp"

// One pass adds the products of all columns; then one thread takes all steps on them in its registers.
namespace league::cuda::linear_regression {
namespace {

template <int width>
__global__ void __launch_bounds__(1) take_all_steps(MomentSolve solve, State state, const double* sums) {
  solve.take_all_steps<width>(sums, state);
}

class Descend : public CudaShard {
 public:
  Descend(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, Gram(problem.features).sums() - 2) {}
  void begin() const override {}
  void update() const override {
    with_block_width(problem_.features, [&]<int width>() {
      take_all_steps<width><<<1, 1, 0, stream(queue())>>>(MomentSolve(problem_), state(), sums_.data());
    });
    check_launch();
  }
};
template <class T, int width>
using Moments = GramPass<T, width, Descend>;

const RegisterWholeSolve<LinearRegression> moments{"moments", model, by_moment_width<Moments>};

}  // namespace
}  // namespace league::cuda::linear_regression
