// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/product_tile_host.hpp"

/// Vectors of a host thread, and the product used by all layers.
namespace league::cnn {

typedef float Lanes __attribute__((vector_size(blocks::HostTile<float>::vector_bytes)));
typedef int Ints __attribute__((vector_size(blocks::HostTile<float>::vector_bytes)));
inline constexpr int lanes = blocks::HostTile<float>::lanes;  ///< 16 with AVX-512, else 8
/// Width of a tile in vectors: 32 registers hold twice the sums of 16.
inline constexpr int vectors = lanes / 8, block = vectors * lanes;

inline Lanes load(const float* from) {
  Lanes values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}
inline void store(float* to, Lanes values) { __builtin_memcpy(to, &values, sizeof values); }
inline void store(int* to, Ints values) { __builtin_memcpy(to, &values, sizeof values); }
/// Select: a where `first` is -1, b where it is 0.
[[gnu::always_inline]] inline Lanes chosen(Ints first, Lanes a, Lanes b) {
  return (Lanes)((first & (Ints)a) | (~first & (Ints)b));
}
inline float sum_of(Lanes values) {
  float sums[lanes];
  store(sums, values);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
  return sums[0];
}

/// Strides of the elements.
struct Steps {
  int row, depth, vector = lanes;
};

/// sums[m][v] += the sum over n < depth of a(m, n) times the vector b(n, v); `of_a` has no vectors, `of_b` no rows.
template <int high, int wide>
[[gnu::always_inline]] inline void multiply_add(Lanes (&sums)[high][wide], const float* a, Steps of_a, const float* b,
                                                Steps of_b, int depth) {
  for (int n = 0; n < depth; ++n, a += of_a.depth, b += of_b.depth) {
    Lanes right[wide];
    for (int v = 0; v < wide; ++v) right[v] = load(b + v * of_b.vector);
    for (int m = 0; m < high; ++m)
      for (int v = 0; v < wide; ++v) sums[m][v] += a[m * of_a.row] * right[v];
  }
}

/// Loads the same vectors, from `from` on, into all rows.
template <int high, int wide>
[[gnu::always_inline]] inline void start(Lanes (&sums)[high][wide], const float* from) {
  for (int m = 0; m < high; ++m)
    for (int v = 0; v < wide; ++v) sums[m][v] = load(from + v * lanes);
}
/// Stores to rows `pitch` apart.
template <int high, int wide>
[[gnu::always_inline]] inline void store(float* to, int pitch, const Lanes (&sums)[high][wide]) {
  for (int m = 0; m < high; ++m)
    for (int v = 0; v < wide; ++v) store(to + m * pitch + v * lanes, sums[m][v]);
}

}  // namespace league::cnn
