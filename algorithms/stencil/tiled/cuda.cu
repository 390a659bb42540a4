// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/cuda.hpp"

namespace league::stencil::cuda_model {
namespace {

// A block takes a tile of cells of several planes, one after another: a thread 16 bytes of a row, or one cell of four
// rows.
template <class T, int width, int rows>
__global__ void tiled_kernel(Grid<T> grid, Tiling tiling) {
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < tiling.items; item += gridDim.x) march<width, rows>(grid, tiling, item, lane);
}

struct Tiled {
  template <class T>
  static void launch(const Grid<T>& grid, const Tiling& tiling, unsigned league, dim3 team, cudaStream_t stream) {
    with_cells<T>(grid.n, [&]<int width, int rows>() {
      tiled_kernel<T, width, rows><<<league, team, 0, stream>>>(grid, tiling);
    });
  }
};

const RegisterHalo<Stencil> tiled{"tiled", cuda::model, make<Method::tiled, Tiled>};

}  // namespace
}  // namespace league::stencil::cuda_model
