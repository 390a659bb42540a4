// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/cnn/cuda_runner.hpp"
#include "backends/cuda/cublas_bf16.hpp"

/// Products of cuBLAS with factors in bf16.
namespace league::cnn::cuda_model {

using layers::Bf16;

struct Narrow {
  const float* from;
  Bf16* to;
  __device__ void operator()(int at) const { to[at] = from[at]; }
};
struct Widen {
  const Bf16* from;
  float* to;
  __device__ void operator()(int at) const { to[at] = from[at]; }
};

/// Planes are stored in bf16; factors in f32 are rounded before each product. Sums are f32.
class Bf16Runner : public Runner<> {
 public:
  using Base = Runner<>;
  using Plane = Bf16;
  using Base::Base;

  template <class MethodShard>
  void declare(MethodShard& shard, std::int64_t max_factor, std::function<void()> warm_up) {
    shard.declare(a_, "cnn/factor_a", max_factor);
    shard.declare(b_, "cnn/factor_b", max_factor);
    Base::declare(shard, max_factor, std::move(warm_up));
  }
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Factor a, Factor b, float* out,
               int slices = 1) const {
    product(rows, columns, depth, narrowed(a, rows * depth, a_.data()), narrowed(b, depth * columns, b_.data()), out,
            slices);
  }
  void product(std::int64_t rows, std::int64_t columns, std::int64_t depth, layers::FactorOf<Bf16> a,
               layers::FactorOf<Bf16> b, float* out, int slices = 1) const {
    const cuda::CublasWorkspace workspace = borrowed();
    cuda::product(handle(), rows, columns, depth, cuda::CublasBf16Factor{a.values, a.transposed},
                  cuda::CublasBf16Factor{b.values, b.transposed}, out, slices);
  }

 private:
  [[nodiscard]] layers::FactorOf<Bf16> narrowed(Factor factor, std::int64_t values, Bf16* to) const {
    elements(static_cast<int>(values), Narrow{factor.values, to});
    return {to, factor.transposed};
  }
  Array<Bf16> a_, b_;
};

}  // namespace league::cnn::cuda_model
