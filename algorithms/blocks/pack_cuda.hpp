// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

/// A 16-byte streaming (non-temporal) store.
template <class T>
__device__ void store_streaming(Pack<T>* to, const Pack<T>& value) {
  cuda::store_streaming(reinterpret_cast<float4*>(to), *reinterpret_cast<const float4*>(&value));
}

}  // namespace league::blocks
