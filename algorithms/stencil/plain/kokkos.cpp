// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/kokkos.hpp"

namespace league::stencil::kokkos_model {
namespace {

// A GPU's lane takes one cell of several planes; a host's vector lanes take neighbouring cells of one plane.
template <class T>
constexpr Numbers numbers =
    blocks::by_kind({.columns = 32, .slab = 16, .depth = 16, .team = 128, .teams = 1 + int{sizeof(T)} / 4},
                    {.tile = 32, .columns = 1 << 14, .slab = 1, .depth = 1, .team = 1});

/// A lane's cell of each plane, its neighbours read from the caches; what lies outside the cube is 0.
template <class T>
struct EachCell {
  Cells<T> cells;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int z, int planes, int y, int x) const {
    const int n = cells.n;
    const std::int64_t plane = cells.plane;
    std::int64_t at = cells.index(z, y, x);
    int step = 0;
    do {
      const auto value = [&](std::int64_t cell, bool counts) {
        return blocks::load_or_zero(counts, [&] { return cells.from(cell); });
      };
      cells.to(at) = step_cell(cells.from(at), value(at - 1, x > 0), value(at + 1, x + 1 < n), value(at - n, y > 0),
                               value(at + n, y + 1 < n), value(at - plane, z + step > cells.lowest),
                               value(at + plane, z + step + 1 < cells.end));
      at += plane;
    } while (++step < planes);
  }
};

template <class T>
struct Plain {
  static constexpr Numbers numbers = kokkos_model::numbers<T>;
  static constexpr int max_lanes = 4096 / int{sizeof(T)};
  static constexpr int width(int /*n*/) { return 1; }
  static constexpr int lane_rows(int /*n*/) { return 1; }
  static void run(Queue& queue, const Exec& exec, Launch launch, const Cells<T>& cells, const Tiles& tiles) {
    // without bounds each launch would ask Kokkos for the largest team
    using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(numbers.teams)>;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
    const EachCell<T> lane{cells};
    kokkos::submit(
        queue, "stencil/plain", Policy(exec, launch.league, launch.team, launch.vector),
        KOKKOS_LAMBDA(const typename Policy::member_type& team) { for_lanes<1, 1, numbers.depth>(team, tiles, lane); });
  }
};

const RegisterHalo<Stencil> plain = once<Plain>("plain");

}  // namespace
}  // namespace league::stencil::kokkos_model
