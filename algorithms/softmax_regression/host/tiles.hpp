// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/product_tile_host.hpp"
#include "algorithms/softmax_regression/common/step.hpp"

/// A host thread's work on a tile of rows, shared by `openmp` and `kokkos` on hosts; the loops over tiles are theirs.
/// `Words`: see blocks/words.hpp.
namespace league::softmax_regression {

/// Rows that stay in L2 from the logits to the gradient.
inline constexpr int host_tile_rows = 32;

using HostLanes = blocks::HostTile<float>;
typedef float HostVector __attribute__((vector_size(HostLanes::vector_bytes)));
inline constexpr int host_lanes = HostLanes::lanes;
/// Rows, and vectors of features, whose sums of `classes_together` classes fit into the registers.
inline constexpr int host_together = HostLanes::vector_bytes == 64 ? 2 : 1;

inline HostVector load(const float* from) {
  HostVector x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
template <class Words>
HostVector load(const float* from) {
  return load(from);
}
template <class Words>
HostVector load(const std::uint8_t* from) {
  return Words::template widen_bytes<HostVector>(from);
}

template <int lanes>
struct Floats {
  typedef float Vector __attribute__((vector_size(lanes * sizeof(float))));
};
/// The sum of `lanes` floats, as a tree.
template <int lanes, class Vector>
float sum_of(const Vector& vector) {
  if constexpr (lanes == 1) {
    return vector[0];
  } else {
    typename Floats<lanes / 2>::Vector low, high;
    __builtin_memcpy(&low, &vector, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&vector) + sizeof low, sizeof high);
    return sum_of<lanes / 2>(low + high);
  }
}

/// Logits of `count` neighbouring rows for a turn of classes.
template <class Words, int count, class T>
void add_logits(const T* x, int pitch, const float* weights, float* z, int z_pitch) {
  HostVector sum[count][classes_together] = {};
  for (int f = 0; f < pitch; f += host_lanes) {
    HostVector of_row[count];
    for (int row = 0; row < count; ++row) of_row[row] = load<Words>(x + row * pitch + f);
    for (int c = 0; c < classes_together; ++c) {
      const HostVector w = load(weights + c * pitch + f);
      for (int row = 0; row < count; ++row) sum[row][c] += of_row[row] * w;
    }
  }
  for (int row = 0; row < count; ++row)
    for (int c = 0; c < classes_together; ++c) z[row * z_pitch + c] = sum_of<host_lanes>(sum[row][c]);
}

/// gradient [classes_together x pitch] += residuals x features, for `count` vectors of features and a turn of classes.
template <class Words, int count, class T>
void add_gradient(const T* x, int rows, int pitch, const float* residuals, int r_pitch, double* gradient) {
  HostVector sum[count][classes_together] = {};
  for (int row = 0; row < rows; ++row) {
    HostVector features[count];
    for (int v = 0; v < count; ++v) features[v] = load<Words>(x + row * pitch + v * host_lanes);
    for (int c = 0; c < classes_together; ++c) {
      const HostVector r = residuals[row * r_pitch + c] - HostVector{};
      for (int v = 0; v < count; ++v) sum[v][c] += features[v] * r;
    }
  }
  for (int c = 0; c < classes_together; ++c)
    for (int v = 0; v < count; ++v)
      for (int lane = 0; lane < host_lanes; ++lane)
        gradient[c * pitch + v * host_lanes + lane] += static_cast<double>(sum[v][c][lane]);
}

/// Adds the gradients of up to `host_tile_rows` rows to `gradient` [whole turns of classes x pitch]. @returns their
/// loss
template <class Words, class T>
double take_tile(const Descent& descent, const T* x, const std::int32_t* labels, int rows, double* gradient) {
  alignas(64) float z[host_tile_rows * turn_pitch * ((64 + classes_together - 1) / classes_together)];
  const int pitch = descent.pitch, last_turn = turns(descent.classes), z_pitch = last_turn * turn_pitch;
  for (int turn = 0; turn < last_turn; ++turn) {
    const float* weights = descent.weights + turn * classes_together * pitch;
    float* of_turn = z + turn * turn_pitch;
    int row = 0;
    for (; row + host_together <= rows; row += host_together)
      add_logits<Words, host_together>(x + row * pitch, pitch, weights, of_turn + row * z_pitch, z_pitch);
    for (; row < rows; ++row) add_logits<Words, 1>(x + row * pitch, pitch, weights, of_turn + row * z_pitch, z_pitch);
  }
  double loss = 0;
  for (int row = 0; row < rows; ++row) loss += softmax_row(z + row * z_pitch, descent.classes, labels[row]);
  for (int turn = 0; turn < last_turn; ++turn) {
    double* of_turn = gradient + turn * classes_together * pitch;
    int f = 0;
    for (; f + host_together * host_lanes <= pitch; f += host_together * host_lanes)
      add_gradient<Words, host_together>(x + f, rows, pitch, z + turn * turn_pitch, z_pitch, of_turn + f);
    for (; f < pitch; f += host_lanes)
      add_gradient<Words, 1>(x + f, rows, pitch, z + turn * turn_pitch, z_pitch, of_turn + f);
  }
  return loss;
}

}  // namespace league::softmax_regression
