// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>

#include "algorithms/blocks/aligned_rows.hpp"
#include "algorithms/blocks/pack.hpp"
#include "algorithms/stencil/common/shard.hpp"
#include "backends/launch.hpp"

/// A GPU lane's work in the native kernels, which the specialised ones share.
namespace league::stencil {

/// Mapping of a team's lanes to a plane: `lanes_x` next to each other, in lanes / lanes_x rows. A lane takes `width` x
/// `rows` cells of a plane; a work item is a team's tile over `depth` planes.
struct Tiling {
  int width, rows, lanes_x, lanes_y, depth;
  unsigned tiles_x, tiles_y, items;

  /// A lane's first cell, and its planes (none without a cell).
  struct Place {
    int x, y, first, last;
  };
  [[nodiscard]] LEAGUE_FUNCTION Place place(unsigned item, int lane, int n, int planes) const {
    const unsigned tile = item / tiles_x;
    const int x = (static_cast<int>(item % tiles_x) * lanes_x + lane % lanes_x) * width;
    const int y = (static_cast<int>(tile % tiles_y) * lanes_y + lane / lanes_x) * rows;
    const int first = static_cast<int>(tile / tiles_y) * depth;
    if (x >= n || y >= n || lane >= lanes_x * lanes_y) return {x, y, first, first};
    return {x, y, first, first + depth < planes ? first + depth : planes};
  }
};

/// `depth`: 0 chooses it: so many planes that there are still enough items, or about `wave` lanes in all, in up to 32
/// planes. Fewer items read fewer planes twice, those at their ends.
/// @throws Unsupported if the number of items exceeds the index type
inline Tiling tiling_of(int n, std::int64_t planes, int lanes, int width, int rows, int depth, std::int64_t wave) {
  constexpr int widest = 32, enough_items = 2048;
  constexpr std::int64_t max_depth_of_wave = 32;
  const int max_depth = width > 1 ? 64 : 16;  // fastest of 16 and 64 on an H200
  Tiling tiling{.width = width, .rows = rows, .lanes_x = 1};
  while (tiling.lanes_x * 2 <= std::min(lanes, widest) && tiling.lanes_x * width < n) tiling.lanes_x *= 2;
  tiling.lanes_y = lanes / tiling.lanes_x;
  tiling.tiles_x = static_cast<unsigned>(ceil_div(n, tiling.lanes_x * width));
  tiling.tiles_y = static_cast<unsigned>(ceil_div(n, tiling.lanes_y * rows));
  const std::int64_t per_plane = std::int64_t{tiling.tiles_x} * tiling.tiles_y;
  const std::int64_t of_wave = std::min(planes * per_plane * lanes / wave, max_depth_of_wave);
  const std::int64_t even = std::max(planes * per_plane / enough_items, of_wave);
  const auto chosen = static_cast<int>(std::clamp<std::int64_t>(even, 4, max_depth));
  tiling.depth =
      static_cast<int>(std::clamp<std::int64_t>(depth > 0 ? depth : chosen, 1, std::max<std::int64_t>(planes, 1)));
  const std::int64_t items = per_plane * ceil_div<std::int64_t>(planes, tiling.depth);
  if (items > max_league)
    throw Unsupported("team of " + std::to_string(lanes) + " lanes, tile " + std::to_string(tiling.depth) + ": " +
                      std::to_string(items) + " tiles; kernels count up to " + std::to_string(max_league));
  tiling.items = static_cast<unsigned>(items);
  return tiling;
}

/// `plain`: one cell of each plane.
template <class T>
LEAGUE_FUNCTION void advance_cells(const Grid<T>& grid, const Tiling& tiling, unsigned item, int lane) {
  const auto [x, y, first, last] = tiling.place(item, lane, grid.n, grid.planes);
  const int row = grid.n;
  const std::int64_t plane = grid.plane;
  const int lowest = grid.lowest(), end = grid.end();
  const T* from = grid.from + grid.index(first, y, x);
  T* to = grid.to + grid.index(first, y, x);
  for (int z = first; z < last; ++z, from += plane, to += plane)
    *to = step_cell(from[0], x > 0 ? from[-1] : T{0}, x + 1 < grid.n ? from[1] : T{0}, y > 0 ? from[-row] : T{0},
                    y + 1 < grid.n ? from[row] : T{0}, z > lowest ? from[-plane] : T{0},
                    z + 1 < end ? from[plane] : T{0});
}

/// `tiled`: a lane marches through the planes with the cells below, here and above in registers, and prefetches those
/// of the plane after next. In-plane neighbours of other lanes are read from cache.
template <int width, int rows, class T>
LEAGUE_FUNCTION void march(const Grid<T>& grid, const Tiling& tiling, unsigned item, int lane) {
  using Cells = blocks::Pack<T, width* static_cast<int>(sizeof(T))>;
  const auto [x, y, first, last] = tiling.place(item, lane, grid.n, grid.planes);
  if (first >= last) return;
  const int n = grid.n, left = n - y;  // rows from this one on
  const int lowest = grid.lowest(), end = grid.end();
  const std::int64_t plane = std::int64_t{n} * n;
  const T* from = grid.from + grid.index(first, y, x);
  T* to = grid.to + grid.index(first, y, x);
  const auto load = [](const T* at, bool there) { return there ? *reinterpret_cast<const Cells*>(at) : Cells{}; };
  Cells below[rows], centre[rows], above[rows], next[rows];
  for (int r = 0; r < rows; ++r) {
    below[r] = load(from + r * n - plane, r < left && first > lowest);
    centre[r] = load(from + r * n, r < left);
    above[r] = load(from + r * n + plane, r < left && first + 1 < end);
  }
  for (int z = first; z < last; ++z, from += plane, to += plane) {
    const bool goes_on = z + 1 < last && z + 2 < end;
    for (int r = 0; r < rows; ++r) next[r] = load(from + r * n + 2 * plane, r < left && goes_on);
    const Cells south = load(from - n, y > 0), north = load(from + rows * n, rows < left);
    for (int r = 0; r < rows; ++r) {
      const T west = x > 0 && r < left ? from[r * n - 1] : T{0};
      const T east = x + width < n && r < left ? from[r * n + width] : T{0};
      const Cells &lower = r > 0 ? centre[r - 1] : south, &upper = r + 1 < rows ? centre[r + 1] : north;
      Cells cells;
      for (int k = 0; k < width; ++k)
        cells.values[k] = step_cell(centre[r].values[k], k > 0 ? centre[r].values[k - 1] : west,
                                    k + 1 < width ? centre[r].values[k + 1] : east, lower.values[k], upper.values[k],
                                    below[r].values[k], above[r].values[k]);
      if (r < left) *reinterpret_cast<Cells*>(to + r * n) = cells;
    }
    for (int r = 0; r < rows; ++r) below[r] = centre[r], centre[r] = above[r], above[r] = next[r];
  }
}

/// Calls `body.template operator()<width, rows>()` for the cells per lane: 16 bytes of a row if rows are aligned, else
/// one cell of four rows.
template <class T, class Body>
auto with_cells(int n, const Body& body) {
  constexpr int wide = blocks::Pack<T>::size;
  return blocks::has_aligned_rows<T>(n) ? body.template operator()<wide, 1>() : body.template operator()<1, 4>();
}

/// A method on GPU lanes: the mapping of a launch to the planes.
template <class T, template <class> class Array, Method method>
class LaneShard : public StencilShard<T, Array> {
 public:
  using StencilShard<T, Array>::StencilShard;

 protected:
  Launch plan(Launch launch, const LaunchLimits& limits) {
    launch_ = resolve(launch, {0, default_lanes(), 1}, limits);
    const Tiling whole = tiling(this->rows().size());
    launch_.tile = whole.depth;
    if (launch_.league == 0) launch_.league = league_of(whole.items);
    return launch_;
  }
  [[nodiscard]] Tiling tiling(std::int64_t planes) const {
    const int lanes = launch_.team * launch_.vector;
    constexpr std::int64_t wave = std::int64_t{1} << 17;  // fastest on an H200, but for `plain` in f32
    if (method == Method::plain)
      return tiling_of(this->n(), planes, lanes, 1, 1, launch_.tile, sizeof(T) == 4 ? 2 * wave : wave);
    return with_cells<T>(this->n(), [&]<int width, int rows>() {
      return tiling_of(this->n(), planes, lanes, width, rows, launch_.tile, wave);
    });
  }
  [[nodiscard]] const Launch& launch() const { return launch_; }
  /// Of `tiled`, fewer where a lane takes single cells and there are planes enough.
  [[nodiscard]] int default_lanes() const {
    if (method == Method::plain) return 128;
    return !blocks::has_aligned_rows<T>(this->n()) && this->n() >= 128 ? 64 : 256;
  }

 private:
  Launch launch_;
};

}  // namespace league::stencil
