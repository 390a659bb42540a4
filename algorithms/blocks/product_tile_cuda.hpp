// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/product_tile.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

// A block takes 64 rows at a time.
template <class Element, class T, class Sum>
__global__ void __launch_bounds__(PackTeam::threads)
    pack_panels(const T* data, std::int64_t n, int features, Panels panels, typename Element::Packed* packed,
                Sum* norms) {
  __shared__ double partial[PackTeam::threads];
  for (std::int64_t first = std::int64_t{blockIdx.x} * PackTeam::rows; first < panels.rows;
       first += std::int64_t{gridDim.x} * PackTeam::rows)
    pack_panel_rows<Element>(block_group(), data, n, features, panels, first, packed, norms, partial);
}

/// Packs data [n x features] as `panels`, and the squared norm of each row, added in double; NaN for rows of the
/// padding.
template <class Element, class T, class Sum>
void pack(cudaStream_t stream, const T* data, std::int64_t n, std::int64_t features, typename Element::Packed* packed,
          Sum* norms) {
  const Panels panels(n, features);
  pack_panels<Element><<<league_of(panels.rows / PackTeam::rows), PackTeam::threads, 0, stream>>>(
      data, n, static_cast<int>(features), panels, packed, norms);
  cuda::check_launch();
}

}  // namespace league::blocks
