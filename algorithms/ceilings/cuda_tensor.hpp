// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include "algorithms/blocks/subgroup_cuda.hpp"
#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/ceilings/tensor.hpp"
#include "algorithms/drivers/split.hpp"
#include "backends/cuda/cuda.hpp"

/// Shared by the tensor kernels: sums of a warp, and the memory of a shard.
namespace league::ceilings::cuda_tensor {

/// Accumulator type of products.
template <Dtype dtype>
using Sum = typename Words<dtype>::Sum;
/// Type of the sum over the elements of C; i32 wraps modulo 2^32.
template <class Sum>
using Total = std::conditional_t<std::is_same_v<Sum, std::int32_t>, std::uint32_t, Sum>;

/// A double from its word.
__device__ inline double real(std::uint64_t word) { return __longlong_as_double(static_cast<long long>(word)); }

/// The sum over a warp, in lane 0.
template <class T>
__device__ T warp_sum(T sum) {
  sum = blocks::subgroup_sum(sum);
  return sum;
}

/// A warp takes a row, with factors and sums in registers: enough independent sums to hide the latency of an
/// instruction. `Mma` multiplies the tiles of a row, `Mma::steps` steps at a time.
template <class Mma>
__global__ void warp_products(std::int64_t rows, std::int64_t first, int steps, Operands operands,
                              typename Mma::Sum* sums) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const int warps = lanes / cuda::warp_size;
  for (std::int64_t row = std::int64_t{blockIdx.x} * warps + lane / cuda::warp_size; row < rows;
       row += std::int64_t{gridDim.x} * warps) {
    const Mma mma(operands, first + row, lane % cuda::warp_size);
    typename Mma::Tile c[Mma::tiles] = {};
#pragma unroll 4
    for (int step = 0; step < steps; step += Mma::steps) mma.add_to(c);
    Total<typename Mma::Sum> sum = 0;
    for (const auto& tile : c)
      for (const auto value : tile.sum) sum += static_cast<Total<typename Mma::Sum>>(value);
    sum = warp_sum(sum);
    if (lane % cuda::warp_size == 0) sums[row] = static_cast<typename Mma::Sum>(sum);
  }
}

/// One shard; `Kernel` launches it.
template <class Kernel>
class TensorShard final : public IndependentShard {
  using T = typename Kernel::Sum;

 public:
  TensorShard(const Ceilings& problem, const Context& context, const Shard& shard)
      : IndependentShard(context, shard), operands_{problem.random_operands, problem.seed} {
    declare(sums_, "ceilings/sums", rows().size());
    output(sums_, 0);
  }
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, Kernel::team, 1}, cuda::limits);
    Kernel::require(launch_.team * launch_.vector);
    if (launch_.league == 0) launch_.league = league_of(Kernel::teams(rows(), launch_.team * launch_.vector));
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(queue(), "ceiling", [this] {
      const dim3 block(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
      Kernel::kernel<<<static_cast<unsigned>(launch_.league), block, 0, cuda::stream(queue())>>>(
          rows().size(), rows().begin, recurrence.steps, operands_, sums_.data());
      cuda::check_launch();
    });
  }

 private:
  Operands operands_;
  Launch launch_;
  cuda::Array<T> sums_;
};

/// Launches `warp_products`.
template <class Mma>
struct WarpProducts {
  using Sum = typename Mma::Sum;
  static constexpr auto kernel = warp_products<Mma>;
  static constexpr int team = 256;
  static void require(int lanes) {
    if (lanes % cuda::warp_size != 0)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": a product takes whole warps of " +
                        std::to_string(cuda::warp_size));
  }
  static std::int64_t teams(Range rows, int lanes) {
    return ceil_div<std::int64_t>(rows.size(), lanes / cuda::warp_size);
  }
};

}  // namespace league::ceilings::cuda_tensor
