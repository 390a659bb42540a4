// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/product_tile.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::blocks {

// A thread takes a row at a time; neighbouring threads write neighbouring elements of the panel (coalesced).
template <class Element, class T, class Sum>
__global__ void pack_panels(const T* data, std::int64_t n, int features, Panels panels,
                            typename Element::Packed* packed, Sum* norms) {
  const int threads = blockDim.x * blockDim.y, thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t row = std::int64_t{blockIdx.x} * threads + thread; row < panels.rows;
       row += std::int64_t{gridDim.x} * threads) {
    const T* from = data + row * features;
    auto* to = packed + panels.first(row);
    const int there = row < n ? features : 0;
    double norm = 0;
    const auto put = [&](int f, T element) {
      const auto value = Element::pack(element);
      const double wide = Element::widen(value);
      to[std::int64_t{f} * Panels::width] = value;
      norm += wide * wide;
    };
    using Packet = Pack<T, 4 * static_cast<int>(sizeof(T))>;  // rows are aligned to packets
    const int whole = features % Packet::size == 0 ? there : 0;
    for (int f = 0; f < whole; f += Packet::size) {
      const Packet packet = *reinterpret_cast<const Packet*>(from + f);
      for (int e = 0; e < Packet::size; ++e) put(f + e, packet.values[e]);
    }
    for (int f = whole; f < there; ++f) put(f, from[f]);
    for (int f = there; f < panels.depth; ++f) to[std::int64_t{f} * Panels::width] = Element::padding();
    norms[row] = row < n ? static_cast<Sum>(norm) : no_norm<Sum>;
  }
}

/// Packs data [n x features] as `panels`, and the squared norm of each row, added in double; NaN for rows of the
/// padding.
template <class Element, class T, class Sum>
void pack(cudaStream_t stream, const T* data, std::int64_t n, std::int64_t features, typename Element::Packed* packed,
          Sum* norms) {
  const Panels panels(n, features);
  constexpr int threads = 64;  // many small blocks, to occupy all multiprocessors
  pack_panels<Element>
      <<<static_cast<unsigned>(std::min<std::int64_t>(panels.rows / threads, 1 << 20)), threads, 0, stream>>>(
          data, n, static_cast<int>(features), panels, packed, norms);
  cuda::check_launch();
}

}  // namespace league::blocks
