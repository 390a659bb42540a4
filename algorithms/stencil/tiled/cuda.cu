// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/shard.hpp"
#include "backends/cuda/cuda.hpp"

// A block takes a tile of cells of several planes, one after another: a thread one cell (`plain`), or 16 bytes of a row
// or one cell of four rows (`tiled`).
namespace league::stencil::cuda_model {
namespace {

template <class T>
__global__ void plain_kernel(Grid<T> grid, Tiling tiling) {
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < tiling.items; item += gridDim.x) advance_cells(grid, tiling, item, lane);
}

template <class T, int width, int rows>
__global__ void tiled_kernel(Grid<T> grid, Tiling tiling) {
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < tiling.items; item += gridDim.x) march<width, rows>(grid, tiling, item, lane);
}

template <class T, Method method>
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
    const cudaStream_t stream = cuda::stream(Base::queue());
    if constexpr (method == Method::plain)
      plain_kernel<<<league, team, 0, stream>>>(grid, tiling);
    else
      with_cells<T>(grid.n, [&]<int width, int rows>() {
        tiled_kernel<T, width, rows><<<league, team, 0, stream>>>(grid, tiling);
      });
    cuda::check_launch();
  }
};

const RegisterHalo<Stencil> plain{"plain", cuda::model, by_type<Cuda, Method::plain>};
const RegisterHalo<Stencil> tiled{"tiled", cuda::model, by_type<Cuda, Method::tiled>};

}  // namespace
}  // namespace league::stencil::cuda_model
