// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/cuda.hpp"

namespace league::stencil::cuda_model {
namespace {

// A block takes a tile of cells of several planes, one after another: a thread one cell.
template <class T>
__global__ void plain_kernel(Grid<T> grid, Tiling tiling) {
  const int lane = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned item = blockIdx.x; item < tiling.items; item += gridDim.x) advance_cells(grid, tiling, item, lane);
}

struct Plain {
  template <class T>
  static void launch(const Grid<T>& grid, const Tiling& tiling, unsigned league, dim3 team, cudaStream_t stream) {
    plain_kernel<<<league, team, 0, stream>>>(grid, tiling);
  }
};

const RegisterHalo<Stencil> plain{"plain", cuda::model, make<Method::plain, Plain>};

}  // namespace
}  // namespace league::stencil::cuda_model
