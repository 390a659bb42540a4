// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/softmax_regression/common/kokkos.hpp"

/// The numbers of the method `fused`, and what it reads.
namespace league::softmax_regression::kokkos_model {

/// `tile`: rows of a team at a time. A lane takes packs of `width` features. For the logits it takes `rows` rows and
/// `columns` classes, with `sums` partial sums of each side by side, and loads `depth` packs of a row together; for the
/// softmax as many rows side by side as sums; for the gradient `values` packs and all classes of a turn.
template <class T>
constexpr Numbers numbers = blocks::by_kind({.tile = sizeof(T) < sizeof(float) ? 32 : 16,
                                             .columns = classes_together / 2,
                                             .width = 4,
                                             .rows = 4,
                                             .values = 1,
                                             .sums = 1,
                                             .team = 256,
                                             .teams = 2},
                                            {.tile = 32,
                                             .columns = classes_together,
                                             .width = blocks::host_vector_bytes / 4,
                                             .rows = blocks::host_vectors / 16,
                                             .depth = 2,
                                             .values = blocks::host_vectors / 16,
                                             .sums = blocks::host_vector_bytes / 4,
                                             .team = 1});

constexpr int packs_of_run = 32;  ///< of weights of a class that lie together: a subgroup's

/// The rows of a shard and the weights, in packs.
template <class T>
struct Inputs {
  static constexpr int width = numbers<T>.width;
  blocks::Packs<const T, width> x;                                                 ///< [rows][packs]
  blocks::PackBlocks<const float, width, classes_together, packs_of_run> weights;  ///< as `State`
  Vector<const std::int32_t> labels;
  int packs;
};

/// Copies a pack, as integers if it has bytes: statement after statement, which GCC 12 makes one instruction, where a
/// loop widens 16 bytes of vector at a time, and copies through the stack.
template <int k = 0, class From, class To, int width>
KOKKOS_FORCEINLINE_FUNCTION void copy(const From& pack, To (&values)[width]) {
  if constexpr (k < width) {
    values[k] = pack.values[k];
    copy<k + 1>(pack, values);
  }
}
template <int width>
KOKKOS_FORCEINLINE_FUNCTION void to_floats(const blocks::PackOf<float, width>& pack, float (&x)[width]) {
  copy(pack, x);
}
template <int width>
KOKKOS_FORCEINLINE_FUNCTION void to_floats(const blocks::PackOf<std::uint8_t, width>& pack, float (&x)[width]) {
  int whole[width];
  copy(pack, whole);
  LEAGUE_VECTORISED
  for (int k = 0; k < width; ++k) x[k] = static_cast<float>(whole[k]);
}

}  // namespace league::softmax_regression::kokkos_model
