// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"

namespace league::cnn {

/// A team's tile of C [rows x columns] = A [rows x depth] B [depth x columns]:
/// 256 threads as 16 x 16, each with rows / 16 x columns / 16 sums, 16 apart; `step` of the depth at a time in scratch.
template <int rows, int columns>
struct ProductTile {
  static constexpr int threads = 256, step = 32, high = rows / 16, wide = columns / 16;
  static constexpr int pitch_a = rows + 1, pitch_b = columns + 1;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * step * (pitch_a + pitch_b);

  /// a(row, k) and b(k, column) give elements, 0 where there is none; `by_k`: neighbouring k are neighbours in memory.
  template <bool a_by_k, bool b_by_k, class Barrier, class A, class B, class Store>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, int depth, const A& a, const B& b,
                                  const Store& store, float* scratch) {
    float *tile_a = scratch, *tile_b = scratch + step * pitch_a;
    const int ty = group.rank / 16, tx = group.rank % 16;
    float sums[high][wide] = {};
    for (int k0 = 0; k0 < depth; k0 += step) {
      group.barrier();
      for (int at = group.rank; at < step * rows; at += threads) {
        const int k = a_by_k ? at % step : at / rows, row = a_by_k ? at / step : at % rows;
        tile_a[k * pitch_a + row] = k0 + k < depth ? a(row, k0 + k) : 0;
      }
      for (int at = group.rank; at < step * columns; at += threads) {
        const int k = b_by_k ? at % step : at / columns, column = b_by_k ? at / step : at % columns;
        tile_b[k * pitch_b + column] = k0 + k < depth ? b(k0 + k, column) : 0;
      }
      group.barrier();
      for (int k = 0; k < step; ++k) {
        float left[high], right[wide];
        for (int y = 0; y < high; ++y) left[y] = tile_a[k * pitch_a + ty + 16 * y];
        for (int x = 0; x < wide; ++x) right[x] = tile_b[k * pitch_b + tx + 16 * x];
        for (int y = 0; y < high; ++y)
          for (int x = 0; x < wide; ++x) sums[y][x] += left[y] * right[x];
      }
    }
    for (int y = 0; y < high; ++y)
      for (int x = 0; x < wide; ++x) store(ty + 16 * y, tx + 16 * x, sums[y][x]);
  }
};

}  // namespace league::cnn
