// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

#include "algorithms/blocks/mma.hpp"
#include "backends/runtime.hpp"

namespace league::tests {

/// C [16 x 16], row by row, of pieces of A and B in the layout of the GPU's unit, by one subgroup; `matrices`: of
/// WarpMatrices.
using MmaProduct = void (*)(Queue&, blocks::mma::Element, bool matrices, std::span<const std::byte> a,
                            std::span<const std::byte> b, std::span<std::byte> c);
/// For GPUs; null in builds without CUDA.
MmaProduct& mma_product_on_gpu();

}  // namespace league::tests
