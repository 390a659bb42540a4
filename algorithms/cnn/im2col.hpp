// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/cnn/layers.hpp"

/// Convolutions as matrix products (im2col): the patches of a chunk of images are the columns of a matrix.
namespace league::cnn::layers {

template <int in, int out, int from_side>
struct Shape {
  static constexpr int inputs = in, outputs = out, side = from_side, plane = side * side;
  static constexpr int to_side = side - 2, positions = to_side * to_side;
  static constexpr int depth = in * taps,
                       rows = depth + 1;  ///< of a patch; plus a row of ones for the biases' gradient
};
template <class N, int n>
using ShapeOf = Shape<Layer<N, n>::inputs, Layer<N, n>::outputs, Layer<N, n>::side>;

/// Some images, and their patches [rows][images][positions].
struct Chunk {
  int first, images;
  float* columns;
};

/// A value of a patch: row (input channel, tap) in column (image, position).
template <class S>
struct Patches {
  static constexpr int per_image = S::rows * S::positions;
  Layout layout;
  const float* from;
  Chunk chunk;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const int row = at / S::positions, position = at % S::positions, c = row / taps, tap = row % taps;
    const int place = (position / S::to_side + tap / 3) * S::side + position % S::to_side + tap % 3;
    chunk.columns[(std::int64_t{row} * chunk.images + i) * S::positions + position] =
        row == S::depth ? 1 : from[layout.at<S::inputs, S::plane>(chunk.first + i, c) + place];
  }
};

/// col2im and ReLU backward: adds the gradients of all patches that contain a value.
template <class S>
struct GatherPatches {
  static constexpr int per_image = S::inputs * S::plane;
  Layout layout;
  const float* a;  ///< the inputs, after a ReLU
  float* d_a;
  Chunk chunk;
  LEAGUE_FUNCTION void operator()(int i, int at) const {
    const int c = at / S::plane, y = at % S::plane / S::side, x = at % S::side;
    const std::int64_t to = layout.at<S::inputs, S::plane>(chunk.first + i, c) + y * S::side + x;
    float sum = 0;
    if (a[to] > 0)
      for (int tap = 0; tap < taps; ++tap) {
        const int top = y - tap / 3, left = x - tap % 3;
        if (top < 0 || top >= S::to_side || left < 0 || left >= S::to_side) continue;
        sum +=
            chunk.columns[(std::int64_t{c * taps + tap} * chunk.images + i) * S::positions + top * S::to_side + left];
      }
    d_a[to] = sum;
  }
};

/// The gradient of a convolution's weights and biases from the products, [slices][outputs][rows]; stored for the first
/// chunk of images, then added.
template <class S>
struct AddFilters {
  static constexpr int all = S::outputs * S::rows;
  const float* products;
  int slices;
  bool first;
  float *weights, *biases;
  LEAGUE_FUNCTION void operator()(int at) const {
    const int o = at / S::rows, row = at % S::rows;
    float& to = row < S::depth ? weights[o * S::depth + row] : biases[o];
    to = (first ? 0 : to) +
         blocks::sum_in_order<8>(slices, [&](int slice) { return products[std::int64_t{slice} * all + at]; });
  }
};

}  // namespace league::cnn::layers
