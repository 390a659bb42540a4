// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/kokkos.hpp"

namespace league::stencil::kokkos_model {
namespace {

// A GPU's lane marches through planes with its cells in registers: `width` of a row, or where rows are no multiple of
// that, one of `rows` rows. A host's vector lanes take neighbouring cells of one plane, and a tile of three planes
// stays in its second-level cache.
template <class T>
constexpr int of_16_bytes = 16 / int{sizeof(T)};
template <class T>
constexpr Numbers numbers =
    blocks::by_kind({.columns = 32 * of_16_bytes<T>,
                     .slab = 64,
                     .width = of_16_bytes<T>,
                     .rows = of_16_bytes<T>,
                     .depth = 64,
                     .team = 256,
                     .teams = 4},
                    {.tile = 32, .columns = 1 << 14, .slab = 32, .width = 1, .rows = 1, .depth = 1, .team = 1});

/// A lane's cells of a plane, `rows` packs of `width`; what lies outside the cube is 0.
template <class T, int width, int rows>
struct March {
  using Pack = blocks::Pack<T, width* int{sizeof(T)}>;

  Cells<T> cells;
  blocks::Packs<const T, width> from;
  blocks::Packs<T, width> to;

  explicit March(const Cells<T>& of)
      : cells(of), from(blocks::packs<width>(of.from)), to(blocks::packs<width>(of.to)) {}

  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION Pack load(std::int64_t pack, bool counts) const {
    return blocks::load_or_zero(counts, [&]() -> Pack { return from(pack); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int z, int planes, int y, int x) const {
    const int n = cells.n, left = n - y, line = n / width;
    const std::int64_t plane = std::int64_t{line} * n;  // in packs
    std::int64_t at = cells.index(z, y, x) / width;
    const auto exists = [left](int r) { return r == 0 || r < left; };
    const auto row = [&](int r) { return r < 2 || r < left ? r * line : 0; };  // in the ghost plane, if not in this one
    Pack below[rows], centre[rows], above[rows], next[rows];
    for (int r = 0; r < rows; ++r) {
      below[r] = load(at + row(r) - plane, exists(r) && z > cells.lowest);
      centre[r] = load(at + row(r), exists(r));
      above[r] = load(at + row(r) + plane, exists(r) && z + 1 < cells.end);
    }
    int step = 0;
    do {
      const bool goes_on = step + 1 < planes && z + step + 2 < cells.end;
      for (int r = 0; r < rows; ++r) next[r] = load(at + row(r) + (goes_on ? 2 * plane : 0), goes_on && exists(r));
      const Pack south = load(at - line, y > 0), north = load(at + row(rows), exists(rows));
      for (int r = 0; r < rows; ++r) {
        const std::int64_t here = at + row(r);
        const T west = blocks::load_or_zero(x > 0, [&] { return from(here - 1).values[width - 1]; });
        const T east = blocks::load_or_zero(x + width < n, [&] { return from(here + 1).values[0]; });
        const Pack &lower = r > 0 ? centre[r - 1] : south, &upper = r + 1 < rows ? centre[r + 1] : north;
        Pack result;
        for (int k = 0; k < width; ++k)
          result.values[k] = step_cell(centre[r].values[k], k > 0 ? centre[r].values[k - 1] : west,
                                       k + 1 < width ? centre[r].values[k + 1] : east, lower.values[k], upper.values[k],
                                       below[r].values[k], above[r].values[k]);
        if (exists(r)) to(at + r * line) = result;
      }
      for (int r = 0; r < rows; ++r) below[r] = centre[r], centre[r] = above[r], above[r] = next[r];
      at += plane;
    } while (++step < planes);
  }
};

template <class T>
struct Tiled {
  static constexpr Numbers numbers = kokkos_model::numbers<T>;
  static constexpr int max_lanes = 256;
  /// Rows are whole packs.
  static bool in_packs(int n) {
    constexpr int width = numbers.width;
    return n % width == 0;
  }
  static int width(int n) { return in_packs(n) ? numbers.width : 1; }
  static int lane_rows(int n) { return in_packs(n) ? 1 : numbers.rows; }
  static void run(Queue& queue, const Exec& exec, Launch launch, const Cells<T>& cells, const Tiles& tiles) {
    if (in_packs(cells.n))
      march<numbers.width, 1>(queue, exec, launch, cells, tiles);
    else
      march<1, numbers.rows>(queue, exec, launch, cells, tiles);
  }
  template <int width, int rows>
  static void march(Queue& queue, const Exec& exec, Launch launch, const Cells<T>& cells, const Tiles& tiles) {
    using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(numbers.teams)>;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
    const March<T, width, rows> lane(cells);
    kokkos::submit(
        queue, "stencil/tiled", Policy(exec, launch.league, launch.team, launch.vector),
        KOKKOS_LAMBDA(const typename Policy::member_type& team) {
          for_lanes<width, rows, numbers.depth>(team, tiles, lane);
        });
  }
};

const RegisterHalo<Stencil> tiled = once<Tiled>("tiled");

}  // namespace
}  // namespace league::stencil::kokkos_model
