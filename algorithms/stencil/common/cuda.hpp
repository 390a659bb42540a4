// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/stencil/common/lanes.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::stencil::cuda_model {

/// A method on one shard: `Kernel::launch(grid, tiling, blocks, threads, stream)` launches its kernel.
template <class T, Method method, class Kernel>
class Cuda final : public LaneShard<T, cuda::Array, method> {
  using Base = LaneShard<T, cuda::Array, method>;

 public:
  using Base::Base;
  Launch configure(Launch launch) override { return Base::plan(launch, cuda::limits); }
  void advance(int from, int to, Range planes) const override {
    const Launch& launch = Base::launch();
    const Grid<T> grid = Base::grid(from, to, planes);
    const Tiling tiling = Base::tiling(grid.planes);
    const auto league = std::min(static_cast<unsigned>(launch.league), tiling.items);
    const dim3 team(static_cast<unsigned>(launch.vector), static_cast<unsigned>(launch.team));
    Kernel::launch(grid, tiling, league, team, cuda::stream(Base::queue()));
    cuda::check_launch();
  }
};

template <Method method, class Kernel>
std::unique_ptr<HaloShard> make(const Stencil& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<HaloShard> {
    return std::make_unique<Cuda<T, method, Kernel>>(problem, context, shard);
  });
}

}  // namespace league::stencil::cuda_model
