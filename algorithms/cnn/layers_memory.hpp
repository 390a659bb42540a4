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
struct Now {
  Take take;
  blocks::StepSize<float> size;
};

/// One shard's memory.
struct Memory {
  State s;
  Now* now;
  Layout layout;
  float* x;         ///< [images][pixels]
  float *a1, *z2;   ///< a1: after the first convolution and ReLU; z2: after the second one, later its gradient
  float* d_a1;      ///< gradient before the ReLU
  float* products;  ///< [slices][images][hidden]: the first dense layer's sums
  float* logits;    ///< [images][classes]
  std::int64_t* counts;

  [[nodiscard]] LEAGUE_FUNCTION const Take& take() const { return now->take; }
  LEAGUE_FUNCTION void take_batch() const {
    now->take = s.now();
    if (*s.step < s.warm_up + s.steps) now->size = s.step_size();
  }
};

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
