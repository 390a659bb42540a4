// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/blocks/packs_kokkos.hpp"
#include "algorithms/blocks/share_kokkos.hpp"
#include "algorithms/stencil/common/shard.hpp"
#include "backends/kokkos/submit.hpp"

/// What the stencils written once share: tiles of planes, and the lanes' loops over them.
namespace league::stencil::kokkos_model {

using blocks::Numbers, kokkos::Exec, kokkos::Vector;

/// Work items of a team: tiles of `rows` x `columns` cells over up to `depth` planes, those of a plane first.
struct Tiles {
  int n, planes;
  int rows, columns, depth;
  int row_bits;  ///< of a row, 2^row_bits lanes
  unsigned across, down;
  int items;

  struct Tile {
    int x, y, first, last;  ///< first cell; planes
  };
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Tile tile(unsigned item) const {
    const unsigned in_plane = item / across;
    const int slab = static_cast<int>(in_plane / down) * depth;
    return {static_cast<int>(item % across) * columns, static_cast<int>(in_plane % down) * rows, slab,
            slab + depth < planes ? slab + depth : planes};
  }
};

/// `depth`: 0 chooses it: where up to 32 planes are enough, so that all `slots` teams that a device holds at once have
/// one item; else up to `slab`, as long as there are four items for each of them. Fewer items read fewer planes twice,
/// those at their ends.
/// @throws Unsupported if the number of items exceeds the index type
inline Tiles tiles_of(int n, int planes, int rows, int row_bits, int width, int slab, int depth, int slots) {
  Tiles tiles{.n = n, .planes = planes, .rows = std::min(rows, n), .columns = width << row_bits, .row_bits = row_bits};
  const int across = ceil_div(n, tiles.columns), down = ceil_div(n, tiles.rows);
  tiles.across = static_cast<unsigned>(across), tiles.down = static_cast<unsigned>(down);
  constexpr std::int64_t min_depth = 4;
  const std::int64_t per_plane = std::int64_t{across} * down, at_once = std::min(32, slab);
  const std::int64_t slabs = std::max<std::int64_t>(slots / per_plane, 1), even = ceil_div<std::int64_t>(planes, slabs);
  const std::int64_t chosen = even <= at_once
                                  ? std::max(even, min_depth)
                                  : std::clamp<std::int64_t>(planes * per_plane / (4 * slots), at_once, slab);
  tiles.depth = std::clamp(depth > 0 ? depth : static_cast<int>(chosen), 1, std::max(planes, 1));
  const std::int64_t items = per_plane * ceil_div(planes, tiles.depth);
  if (items > max_league)
    throw Unsupported("tile " + std::to_string(tiles.depth) + ": " + std::to_string(items) +
                      " work items; kernels count up to " + std::to_string(max_league));
  tiles.items = static_cast<int>(items);
  return tiles;
}

/// The cells that a step reads and writes: planes with a ghost plane at either end, so that every neighbour of a cell
/// is an element, if not always one that counts.
template <class T>
struct Cells {
  explicit Cells(const Grid<T>& grid)
      : from(grid.from - grid.plane, static_cast<std::size_t>((grid.planes + 2) * grid.plane)),
        to(grid.to - grid.plane, from.extent(0)),
        n(grid.n),
        plane(grid.plane),
        lowest(grid.lowest()),
        end(grid.end()) {}
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t index(int z, int y, int x) const {
    return (z + 1) * plane + std::int64_t{y} * n + x;
  }
  Vector<const T> from;
  Vector<T> to;
  int n;
  std::int64_t plane;
  int lowest, end;  ///< planes that exist: the first, and the one after the last
};

/// Calls `lane(z, planes, y, x)` for plane z, row y and column x of each lane's first cell: `width` columns,
/// `lane_rows` rows, up to `depth` planes.
template <int width, int lane_rows, int depth, class Member, class Lane>
KOKKOS_INLINE_FUNCTION void for_lanes(const Member& team, const Tiles& tiles, const Lane& lane) {
  const auto mine = blocks::share(team.league_rank(), team.league_size(), tiles.items);
  for (int item = mine.first; item < mine.end; item += mine.stride) {
    const auto [x, y, first, last] = tiles.tile(static_cast<unsigned>(item));
    const int rows = (tiles.n - y < tiles.rows ? tiles.n - y : tiles.rows) + lane_rows - 1;
    const int columns = (tiles.n - x < tiles.columns ? tiles.n - x : tiles.columns) + width - 1;
    for (int z = first; z < last; z += depth)
      blocks::for_cells(team, rows / lane_rows, columns / width, tiles.row_bits, [&](int row, int column) {
        lane(z, depth < last - z ? depth : last - z, y + row * lane_rows, x + column * width);
      });
  }
}

/// A method: `Kernel::run` launches it for cells, tiles and a launch; a lane takes `Kernel::width(n)` x `lane_rows(n)`
/// cells of a plane.
template <class T, class Kernel>
class Once final : public StencilShard<T, kokkos::Array> {
  using Base = StencilShard<T, kokkos::Array>;
  static constexpr Numbers numbers = Kernel::numbers;

 public:
  Once(const Stencil& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), exec_(kokkos::instance(context.runtime, Base::queue())) {}
  Launch configure(Launch launch) override {
    LaunchLimits most = kokkos::limits(Base::queue());
    most.team_times_vector = std::min(most.team_times_vector, Kernel::max_lanes);
    launch_ = resolve(launch, {0, std::min(numbers.team, most.team_times_vector), 1}, most);
    const Tiles whole = tiles(static_cast<int>(Base::rows().size()));
    launch_.tile = whole.depth;
    if (launch_.league == 0) launch_.league = std::max(1, whole.items);
    return launch_;
  }
  void advance(int from, int to, Range planes) const override {
    const Grid<T> grid = Base::grid(from, to, planes);
    const Tiles tiles = this->tiles(grid.planes);
    Launch launch = launch_;
    launch.league = std::min(launch.league, std::max(1, tiles.items));
    Kernel::run(Base::queue(), exec_, launch, Cells<T>(grid), tiles);
  }

 private:
  [[nodiscard]] Tiles tiles(int planes) const {
    const int n = Base::n(), width = Kernel::width(n), lanes = launch_.team * launch_.vector;
    int row_bits = 0;  // no more lanes than a row of the grid needs
    while (width << row_bits < std::min(numbers.columns, n)) ++row_bits;
    const int rows = std::max({numbers.tile, lanes >> row_bits, 1}) * Kernel::lane_rows(n);
    return tiles_of(n, planes, rows, row_bits, width, numbers.slab, launch_.tile, slots());
  }
  /// Teams that the device holds at once.
  [[nodiscard]] int slots() const {
    return std::max(1, blocks::lanes_at_once(exec_, numbers, Kernel::max_lanes) / (launch_.team * launch_.vector));
  }

  const Exec& exec_;
  Launch launch_;
};

template <template <class> class Kernel>
RegisterHalo<Stencil> once(const char* method) {
  return {method,
          written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(Kernel<T>::numbers); }),
          [](const Stencil& problem, const Context& context, const Shard& shard) {
            return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<HaloShard> {
              return std::make_unique<Once<T, Kernel<T>>>(problem, context, shard);
            });
          }};
}

}  // namespace league::stencil::kokkos_model
