// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/pieces.hpp"
#include "backends/launch.hpp"

namespace league::blocks {

// A block takes 16 rows, its warps the steps of the depth in turn, a lane its part of a piece.
template <class Unit, mma::Operand operand, class Rows>
__global__ void pack_pieces(const Rows rows, const mma::Pieces<Unit, operand> pieces, typename Unit::Word* packed) {
  using Sum = typename Rows::Sum;
  __shared__ Sum totals[mma::side * Rows::sums];
  const auto add = [](Sum* to, Sum value) { atomicAdd(to, value); };
  const auto peak = [](std::int32_t* to, std::int32_t value) { atomicMax(to, value); };
  for (std::int64_t number = blockIdx.x; number < pieces.rows / mma::side; number += gridDim.x)
    pack_rows<Unit>(block_group(), rows, pieces, number * mma::side, totals, packed, add, peak);
}

/// Packs all rows of the pieces.
template <class Unit, mma::Operand operand, class Rows>
void pack_all(cudaStream_t stream, const Rows& rows, const mma::Pieces<Unit, operand>& pieces,
              typename Unit::Word* packed) {
  const std::int64_t groups = std::min<std::int64_t>(pieces.rows / mma::side, 1 << 20);
  pack_pieces<Unit, operand><<<league_of(groups), 128, 0, stream>>>(rows, pieces, packed);
  cuda::check_launch();
}

}  // namespace league::blocks
