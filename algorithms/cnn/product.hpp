// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/cnn/state.hpp"

namespace league::cnn {

/// An operand of a tile: `n` rows (of B: columns), `step` of the depth at a time. Scratch has the layout of memory, so
/// that packs of four are copied unchanged: [row][k] if k is contiguous (`by_k`), else [k][row].
template <int n, bool by_k>
struct Operand {
  static constexpr int threads = 256, step = 32, own = n / 16;
  static constexpr int pitch = by_k ? step + 4 : n;  ///< padded against bank conflicts of 16 rows
  static constexpr int size = by_k ? n * pitch : step * pitch;
  static constexpr int packs = n * step / 4 / threads;  ///< packs per thread

  Four moved[packs];

  /// Row of value `y` of the threads with this lane (of 16).
  LEAGUE_FUNCTION static int row_of(int lane, int y) { return by_k ? lane + 16 * y : 4 * lane + y / 4 * 64 + y % 4; }
  /// get(row, k): the pack of four from there on, along the contiguous dimension.
  template <class Get>
  LEAGUE_FUNCTION void fetch(int rank, int k0, const Get& get) {
    blocks::unrolled<packs>([&](int p) {
      const int at = rank + p * threads;
      if constexpr (by_k)
        moved[p] = get(at / (step / 4), k0 + at % (step / 4) * 4);
      else
        moved[p] = get(at % (n / 4) * 4, k0 + at / (n / 4));
    });
  }
  LEAGUE_FUNCTION void put(int rank, float* tile) const {
    blocks::unrolled<packs>([&](int p) {
      const int at = rank + p * threads;
      const int to = by_k ? at / (step / 4) * pitch + at % (step / 4) * 4 : at / (n / 4) * pitch + at % (n / 4) * 4;
      *reinterpret_cast<Four*>(tile + to) = moved[p];
    });
  }
  /// Reads four values along k of each of the thread's rows.
  LEAGUE_FUNCTION static void read(const float* tile, int lane, int k, float (&values)[4][own]) {
    if constexpr (by_k)
      blocks::unrolled<own>([&](int y) {
        const Four four = *reinterpret_cast<const Four*>(tile + row_of(lane, y) * pitch + k);
        blocks::unrolled<4>([&](int j) { values[j][y] = four.values[j]; });
      });
    else
      blocks::unrolled<4 * (own / 4)>([&](int n4) {
        const int j = n4 % 4, y = n4 / 4 * 4;
        const Four four = *reinterpret_cast<const Four*>(tile + (k + j) * pitch + row_of(lane, y));
        blocks::unrolled<4>([&](int e) { values[j][y + e] = four.values[e]; });
      });
  }
};

/// A team's tile of C [rows x columns] = A [rows x depth] B [depth x columns]: 256 threads as 16 x 16, each with
/// rows / 16 x columns / 16 sums; the packs of the next step are prefetched while one is multiplied.
template <int rows, int columns, bool a_by_k, bool b_by_k>
struct ProductTile {
  using A = Operand<rows, a_by_k>;
  using B = Operand<columns, b_by_k>;
  static constexpr int threads = A::threads, step = A::step;
  static constexpr int scratch_bytes = static_cast<int>(sizeof(float)) * (A::size + B::size);

  /// a(row, k) and b(column, k) return packs, zero beyond the ends; `store(row, column, sums)`: of four neighbouring
  /// columns, or of one (the first of the pack) if B is contiguous in k.
  template <class Barrier, class GetA, class GetB, class Store>
  LEAGUE_FUNCTION static void run(const blocks::Group<Barrier>& group, int depth, const GetA& a, const GetB& b,
                                  const Store& store, float* scratch) {
    float *tile_a = scratch, *tile_b = scratch + A::size;
    // 32 neighbouring threads as 4 x 8: one conflict-free access to scratch per operand
    const int ty = group.rank / 64 * 4 + group.rank % 32 / 8, tx = group.rank / 32 % 2 * 8 + group.rank % 8;
    float sums[A::own][B::own] = {};
    A next_a;
    B next_b;
    if (depth > 0) next_a.fetch(group.rank, 0, a), next_b.fetch(group.rank, 0, b);
    for (int k0 = 0; k0 < depth; k0 += step) {
      group.barrier();
      next_a.put(group.rank, tile_a);
      next_b.put(group.rank, tile_b);
      group.barrier();
      if (k0 + step < depth) next_a.fetch(group.rank, k0 + step, a), next_b.fetch(group.rank, k0 + step, b);
      for (int k = 0; k < step; k += 4) {
        float left[4][A::own], right[4][B::own];
        A::read(tile_a, ty, k, left);
        B::read(tile_b, tx, k, right);
        for (int j = 0; j < 4; ++j)
          for (int y = 0; y < A::own; ++y)
            for (int x = 0; x < B::own; ++x) sums[y][x] += left[j][y] * right[j][x];
      }
    }
    constexpr int together = b_by_k ? 1 : 4;
    blocks::unrolled<A::own>([&](int y) {
      blocks::unrolled<B::own / together>([&](int x) {
        Four four{};
        for (int e = 0; e < together; ++e) four.values[e] = sums[y][together * x + e];
        store(A::row_of(ty, y), B::row_of(tx, together * x), four);
      });
    });
  }
};

}  // namespace league::cnn
