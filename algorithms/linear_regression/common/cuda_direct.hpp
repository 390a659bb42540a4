// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/linear_regression/common/cuda.hpp"
#include "algorithms/linear_regression/common/gram_lanes.hpp"

namespace league::cuda::linear_regression {

template <int = 0>
__global__ void solve_on_device(Gram gram, std::int64_t rows, const double* sums, double* theta) {
  extern __shared__ double scratch[];
  solve_equations<blocks::device_solve_side>(gram, rows, sums, scratch, theta, blocks::block_group());
}

/// The normal equations, but for the pass over the rows.
class CudaDirect : public CudaShard {
 public:
  CudaDirect(const LinearRegression& problem, const Context& context, const Shard& shard)
      : CudaShard(problem, context, shard, Gram(problem.features).sums() - 2), gram_(problem.features) {}
  void begin() const override {}
  void update() const override {
    constexpr int side = blocks::device_solve_side;
    const auto bytes = static_cast<std::size_t>(solve_scratch<side>(gram_)) * sizeof(double);
    solve_on_device<><<<1, side * side, bytes, stream(queue())>>>(gram_, problem_.rows, sums_.data(), theta_.data());
    check_launch();
  }

 protected:
  const Gram gram_;
};

}  // namespace league::cuda::linear_regression
