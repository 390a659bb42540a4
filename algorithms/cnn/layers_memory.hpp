// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/mma.hpp"
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

/// A float stored in bf16.
class Bf16 {
 public:
  Bf16() = default;
  LEAGUE_FUNCTION Bf16(float value) : bits_(Traits::narrow(value)) {}
  LEAGUE_FUNCTION operator float() const { return Traits::widen(bits_); }

 private:
  using Traits = blocks::mma::Traits<blocks::mma::Element::bf16>;
  typename Traits::Value bits_;
};

/// One shard's memory, without the planes.
template <class N>
struct MemoryOf {
  using Net = N;
  StateOf<N> s;
  NowOf<N>* now;
  Layout layout;
  float* products;  ///< [slices][images][hidden]: the first dense layer's sums
  float* logits;    ///< [images][classes]
  std::int64_t* counts;

  [[nodiscard]] LEAGUE_FUNCTION const TakeOf<N>& take() const { return now->take; }
  LEAGUE_FUNCTION void take_batch() const {
    now->take = s.now();
    if (*s.step < s.warm_up + s.steps) now->size = s.step_size();
  }
};

/// The same with the planes, stored as floats or as `Bf16`.
template <class N, class T = float>
struct PlanesOf : MemoryOf<N> {
  using Value = T;
  static constexpr int count = N::network.count;
  T* x;               ///< pixels
  T* a[count - 1];    ///< after a convolution, its ReLU and pool
  T* d_a[count - 1];  ///< its gradient
  T* z[count];        ///< after a convolution that decides, later the gradient; null for others
};

/// A row-major factor of a product as stored; `transposed`: its transpose is the factor.
template <class T>
struct FactorOf {
  const T* values;
  bool transposed = false;
};
using Factor = FactorOf<float>;

/// Two neighbours of a row, the first at an even index.
template <class T>
LEAGUE_FUNCTION auto& pair_at(T* place) {
  return *reinterpret_cast<blocks::Pack<T, 2 * static_cast<int>(sizeof(T))>*>(place);
}
/// The first value of a window of the pool, in its plane.
LEAGUE_FUNCTION int corner_of(int window) { return window / pooled_side * 2 * side2 + window % pooled_side * 2; }

}  // namespace league::cnn::layers
