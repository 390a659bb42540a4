// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <utility>

#include "algorithms/blocks/subgroup_cuda.hpp"
#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/ceilings/tensor.hpp"
#include "algorithms/drivers/split.hpp"
#include "backends/cuda/cuda.hpp"

/// What the tensor kernels have in common: factors as registers hold them, sums of a warp, and the memory of a shard.
namespace league::ceilings::cuda_tensor {

/// A small integer in all elements of a register.
template <Dtype dtype>
__device__ unsigned packed(int value) {
  const auto real = static_cast<float>(value);
  if constexpr (dtype == Dtype::u8) return static_cast<unsigned>(value) * 0x01010101U;
  if constexpr (dtype == Dtype::f16) return __half_as_ushort(__float2half(real)) * 0x00010001U;
  if constexpr (dtype == Dtype::bf16) return __bfloat16_as_ushort(__float2bfloat16(real)) * 0x00010001U;
  return __float_as_uint(real);
}

/// What products of the type are added in.
template <Dtype dtype>
using Sum =
    std::conditional_t<dtype == Dtype::f64, double, std::conditional_t<dtype == Dtype::u8, std::int32_t, float>>;

/// The sum over a warp, in lane 0.
template <class T>
__device__ T warp_sum(T sum) {
  sum = blocks::subgroup_sum(sum);
  return sum;
}

/// A warp takes a row, its sums in registers: as many as cover the latency of an instruction. `Mma` multiplies the
/// tiles of which a row is made, `Mma::steps` steps at a time.
template <class Mma>
__global__ void warp_products(std::int64_t rows, std::int64_t first, int steps, typename Mma::Sum* sums) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const int warps = lanes / cuda::warp_size;
  for (std::int64_t row = std::int64_t{blockIdx.x} * warps + lane / cuda::warp_size; row < rows;
       row += std::int64_t{gridDim.x} * warps) {
    const Mma mma(left(first + row), right(first + row));
    constexpr int tiles = tensor_sums / (cuda::warp_size * Mma::size);
    typename Mma::Sum c[tiles][Mma::size] = {};
#pragma unroll 4
    for (int step = 0; step < steps; step += Mma::steps)
      for (auto& tile : c) mma.add_to(tile);
    typename Mma::Sum sum = 0;
    for (const auto& tile : c)
      for (const auto value : tile) sum += value;
    sum = warp_sum(sum);
    if (lane % cuda::warp_size == 0) sums[row] = sum;
  }
}

/// One shard: `Kernel` says how it is launched.
template <class Kernel>
class TensorPart final : public Part {
  using T = typename Kernel::Sum;

 public:
  TensorPart(const Ceilings&, const Context& context, const Shard& shard) : Part(context, shard) {
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
          rows().size(), rows().begin, recurrence.steps, sums_.data());
      cuda::check_launch();
    });
  }

 private:
  Launch launch_;
  cuda::Array<T> sums_;
};

/// How `warp_products` is launched.
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
