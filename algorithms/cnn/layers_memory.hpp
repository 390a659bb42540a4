// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/state.hpp"

/// Memory of the kernels between library calls, in every model.
namespace league::cnn::layers {

/// Layout of planes of images x channels: chunks of images, each [channels][images of the chunk][plane], so that a
/// chunk is a matrix with one row per channel. Chunks of one image: NCHW.
struct Layout {
  int images, chunk;

  /// Images of the chunk that begins with image `first`.
  [[nodiscard]] LEAGUE_FUNCTION int size(int first) const { return images - first < chunk ? images - first : chunk; }
  template <int channels, int plane>
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t at(int i, int c) const {
    const int first = i / chunk * chunk;
    return (std::int64_t{first} * channels + std::int64_t{c} * size(first) + i - first) * plane;
  }
};

/// The current step's images, evaluated once for all kernels.
template <class N>
struct NowOf {
  TakeOf<N> take;
  blocks::StepSize<float> size;
};

/// One shard's memory.
template <class N>
struct MemoryOf {
  using Net = N;
  static constexpr int count = N::network.count;
  StateOf<N> s;
  NowOf<N>* now;
  Layout layout;
  float* x;               ///< pixels
  float* a[count - 1];    ///< after a convolution, its ReLU and pool
  float* d_a[count - 1];  ///< its gradient
  float* z[count];        ///< after a convolution that decides, later the gradient; null for others
  float* products;        ///< [slices][images][hidden]: the first dense layer's sums
  float* logits;          ///< [images][classes]
  std::int64_t* counts;

  [[nodiscard]] LEAGUE_FUNCTION const TakeOf<N>& take() const { return now->take; }
  LEAGUE_FUNCTION void take_batch() const {
    now->take = s.now();
    if (*s.step < s.warm_up + s.steps) now->size = s.step_size();
  }
};
using Memory = MemoryOf<Mnist>;

/// A row-major factor of a product as stored; `transposed`: its transpose is the factor.
struct Factor {
  const float* values;
  bool transposed = false;
};

/// Two neighbours of a row, the first at an even index.
LEAGUE_FUNCTION Pair& pair_at(float* place) { return *reinterpret_cast<Pair*>(place); }
/// The first value of a window of the pool, in its plane.
LEAGUE_FUNCTION int corner_of(int window) { return window / pooled_side * 2 * side2 + window % pooled_side * 2; }

}  // namespace league::cnn::layers
