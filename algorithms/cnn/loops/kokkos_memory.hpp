// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/blocks/staged_kokkos.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/blocks/vectorised.hpp"
#include "algorithms/cnn/common/kokkos.hpp"

/// The numbers of the methods, and what their kernels read and write.
namespace league::cnn::kokkos_model {

/// The second convolution forward, and the first: values of a row that a lane takes together.
inline constexpr Numbers of_forward =
    blocks::by_kind({.tile = 3, .columns = 3, .width = 2, .rows = 3, .depth = 8, .values = 1, .team = 128, .teams = 4},
                    {.tile = pooled_side,
                     .columns = 3,
                     .width = blocks::host_vector_bytes / 4,
                     .rows = 1,
                     .depth = channels1,
                     .values = blocks::host_vectors / 16,
                     .team = 1,
                     .level = 1});
inline constexpr Numbers of_rows = blocks::by_kind({.width = side1 / 2}, {.width = 32});
/// Windows of a channel that are written, or loaded, together.
inline constexpr Numbers of_pooled = blocks::by_kind({.width = 4}, {.width = 16});
template <class T>
using Scratch = Kokkos::View<T*, Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Beside the state.
struct Memory {
  Vector<float> forward2;   ///< the second convolution's weights: see `Weights`
  Vector<float> backward2;  ///< and as [out][tap][in]
  Vector<float> first;      ///< the first one's, [tap][channel], its biases last
  Vector<float> products;   ///< [slices][images x hidden]: the first dense layer's sums
  Vector<float> d_h;        ///< [hidden][images]: the gradient of the hidden values, whose rows have a pitch
  Vector<float> partials;   ///< [teams][fc1_weights]: the convolutions' gradients, see `Partials`
  blocks::StepSize<float>* size;
  int slices;   ///< of the first dense layer's inputs
  int d_pitch;  ///< of `d_h`
  int teams;    ///< with sums of the convolutions' gradients
};

/// A kernel's state, and what says which images it takes.
struct BatchKernel {
  State s;
  Take given;  ///< where it trains the state says which images

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Take take() const { return given.trains ? s.now() : given; }
};

/// A copy of a pack's values: GCC knows that no other array lies over it.
template <class T, int width>
KOKKOS_FORCEINLINE_FUNCTION void load(const blocks::PackOf<T, width>& pack, T (&values)[width]) {
  const blocks::LoadedPack<T, width> loaded = pack;
  LEAGUE_VECTORISED
  for (int k = 0; k < width; ++k) values[k] = loaded.values[k];
}
template <int rows, int width>
KOKKOS_FORCEINLINE_FUNCTION void copy(const float (&from)[rows][width], float (&to)[rows][width]) {
  for (int row = 0; row < rows; ++row) {
    LEAGUE_VECTORISED
    for (int k = 0; k < width; ++k) to[row][k] = from[row][k];
  }
}
/// sums[k] += get(n, k) for n = first, first + stride, ... below `count`; `depth` of them are loaded together.
template <int depth, int width, class Get>
KOKKOS_FORCEINLINE_FUNCTION void add_in_order(int first, int count, int stride, float (&sums)[width], const Get& get) {
  for (int begin = first; begin < count; begin += depth * stride) {
    float next[depth][width];
    blocks::unrolled<depth>([&](int d) {
      const int n = begin + d * stride;
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) next[d][k] = n < count ? get(n, k) : 0;
    });
    blocks::unrolled<depth>([&](int d) {
      LEAGUE_VECTORISED
      for (int k = 0; k < width; ++k) sums[k] += next[d][k];
    });
  }
}

/// The order of the second convolution's weights: [block of lanes][in][tap][lane][pack of a lane][channel].
struct Weights {
  static constexpr int of_lane = of_forward.values * of_forward.width, lanes = channels2 / of_lane;
  static constexpr int together = std::min(lanes, of_forward.team);  ///< lanes side by side
  KOKKOS_FORCEINLINE_FUNCTION static int place(int o, int c, int tap) {
    const int lane = o / of_lane;
    return (((lane / together * channels1 + c) * taps + tap) * together + lane % together) * of_lane + o % of_lane;
  }
};

/// Packs the convolutions' weights for the kernels.
struct PackWeights {
  static constexpr int first = conv1_weights, end = conv2_biases;
  State s;
  Memory memory;
  KOKKOS_FUNCTION void operator()(int at) const {
    const float weight = s.weights[at];
    if (at < conv1_biases) {
      memory.first(at % taps * channels1 + at / taps) = weight;
    } else if (at < conv2_weights) {
      memory.first(taps * channels1 + at - conv1_biases) = weight;
    } else {
      const int of = at - conv2_weights, o = of / taps / channels1, c = of / taps % channels1, tap = of % taps;
      memory.forward2(Weights::place(o, c, tap)) = weight;
      memory.backward2((o * taps + tap) * channels1 + c) = weight;
    }
  }
};

/// Layout of a team's sums of the convolutions' gradients.
struct Partials {
  static constexpr int weights2 = 0, biases2 = weights2 + channels2 * taps * channels1;  ///< [out][tap][in]
  static constexpr int weights1 = biases2 + channels2;                                   ///< [tap][channel]
  static constexpr int biases1 = weights1 + channels1 * taps;
  static_assert(biases1 + channels1 == fc1_weights);
  /// The parameter of sum `at`.
  KOKKOS_FORCEINLINE_FUNCTION static int parameter(int at) {
    if (at < biases2)
      return conv2_weights + (at / (taps * channels1) * channels1 + at % channels1) * taps + at / channels1 % taps;
    if (at < weights1) return conv2_biases + at - biases2;
    if (at < biases1) return conv1_weights + (at - weights1) % channels1 * taps + (at - weights1) / channels1;
    return conv1_biases + at - biases1;
  }
};

}  // namespace league::cnn::kokkos_model
