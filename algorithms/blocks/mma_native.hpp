// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#if defined(__CUDACC__)
#include "algorithms/blocks/mma_cuda.hpp"
#elif defined(__HIPCC__)
#include "algorithms/blocks/mma_hip.hpp"
#else
#include "algorithms/blocks/mma_host.hpp"
#endif

namespace league::blocks::mma {

/// The matrix unit of the architecture that this file is compiled for.
#if defined(__CUDACC__)
template <Element element>
using Native = Warp<element>;
#elif defined(__HIPCC__)
template <Element element>
using Native = Wavefront<element>;
#else
template <Element element>
using Native = Thread<element>;
#endif

/// The same with the full precision of the element type: floats are split (split.hpp) where there is no f32 unit.
#if defined(__CUDACC__)
template <Element element>
using NativeOfTiles = std::conditional_t<element == Element::f32, Split<WarpMatrices>, Warp<element>>;
#else
template <Element element>
using NativeOfTiles = Native<element>;
#endif

}  // namespace league::blocks::mma
