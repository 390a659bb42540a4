// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/stencil/common/shard.hpp"

// A host thread's work: blocks of rows of cells, vectorised along the rows.
namespace league::stencil {

/// One row. Neighbour rows outside the cube are rows of zeros.
template <class T>
void advance_row(const Grid<T>& grid, int z, int y, const T* zeros) {
  const auto row = [&](int plane, int number) {
    return grid.inside(plane, number) ? grid.from + grid.index(plane, number, 0) : zeros;
  };
  const int n = grid.n;
  const T *centre = row(z, y), *south = row(z, y - 1), *north = row(z, y + 1), *below = row(z - 1, y),
          *above = row(z + 1, y);
  T* __restrict__ to = grid.to + grid.index(z, y, 0);
  const auto cell = [&](int x, T west, T east) {
    to[x] = step_cell(centre[x], west, east, south[x], north[x], below[x], above[x]);
  };
  cell(0, T{0}, n > 1 ? centre[1] : T{0});
  for (int x = 1; x + 1 < n; ++x) cell(x, centre[x - 1], centre[x + 1]);
  if (n > 1) cell(n - 1, centre[n - 2], T{0});
}

/// Blocks of `rows` rows, `depth` planes each.
struct HostTiling {
  int rows, depth;
  std::int64_t blocks_per_plane, items;
};

template <class T>
void advance_block(const Grid<T>& grid, const HostTiling& tiling, std::int64_t item, const T* zeros) {
  const int first_z = static_cast<int>(item / tiling.blocks_per_plane) * tiling.depth;
  const int first_y = static_cast<int>(item % tiling.blocks_per_plane) * tiling.rows;
  for (int z = first_z; z < std::min(first_z + tiling.depth, grid.planes); ++z)
    for (int y = first_y; y < std::min(first_y + tiling.rows, grid.n); ++y) advance_row(grid, z, y, zeros);
}

/// A method on host threads.
template <class T, template <class> class Array, Method method>
class HostShard : public StencilShard<T, Array> {
 public:
  HostShard(const Stencil& problem, const Context& context, const Shard& shard)
      : StencilShard<T, Array>(problem, context, shard) {
    this->declare_zeroed(zeros_, "stencil/zeros", problem.n);
  }

 protected:
  /// `tile`: planes per block, 0 for the default. @returns the effective number
  int plan(int tile, int threads) {
    constexpr int cache_bytes = 1 << 18;  // holds three planes of a block
    const int all_rows = std::max(static_cast<int>(this->rows().size()), 1);
    if (method == Method::plain) {
      tiling_ = {1, std::clamp(tile, 1, all_rows), this->n(), 0};
    } else {
      const int rows = std::clamp(cache_bytes / (3 * this->n() * static_cast<int>(sizeof(T))), 1, this->n());
      const int blocks = ceil_div(this->n(), rows);
      tiling_ = {rows, std::clamp(tile > 0 ? tile : ceil_div(all_rows, ceil_div(4 * threads, blocks)), 1, all_rows),
                 blocks, 0};
    }
    return tiling_.depth;
  }
  [[nodiscard]] HostTiling tiling(int planes) const {
    HostTiling tiling = tiling_;
    tiling.items = tiling.blocks_per_plane * ceil_div(planes, tiling.depth);
    return tiling;
  }
  [[nodiscard]] const T* zeros() const { return zeros_.data(); }

 private:
  HostTiling tiling_{};
  Array<T> zeros_;
};

}  // namespace league::stencil
