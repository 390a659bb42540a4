// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/kokkos.hpp"

namespace league::stencil::kokkos_model {
namespace {

// A GPU's lane takes one cell of several planes; a host's vector lanes take neighbouring cells of one plane.
constexpr Numbers numbers_of_plain = blocks::by_kind(
    {.slab = 16, .width = 1, .rows = 1, .depth = 16, .team = 4, .vector = 32},
    {.tile = 32, .columns = 1 << 14, .slab = 1, .width = 1, .rows = 1, .depth = 1, .team = 1, .vector = 1});

/// A lane's cell of each plane, its neighbours read from the caches; what lies outside the cube is 0.
template <class T>
struct EachCell {
  Cells<T> cells;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int z, int last, int y, int x) const {
    const int n = cells.n;
    const std::int64_t plane = cells.plane;
    std::int64_t at = cells.index(z, y, x);
    do {
      const auto value = [&](std::int64_t cell, bool counts) {
        const T read = cells.from(cell);
        return counts ? read : T{0};
      };
      cells.to(at) = step_cell(cells.from(at), value(at - 1, x > 0), value(at + 1, x + 1 < n), value(at - n, y > 0),
                               value(at + n, y + 1 < n), value(at - plane, z > cells.lowest),
                               value(at + plane, z + 1 < cells.end));
      at += plane;
    } while (numbers_of_plain.depth > 1 && ++z < last);
  }
};

template <class T>
struct Plain {
  static constexpr int max_lanes = sizeof(T) == 4 ? 1024 : 512;
  static Numbers numbers(int) { return numbers_of_plain; }
  static void run(Queue& queue, const Exec& exec, Launch launch, const Cells<T>& cells, const Tiles& tiles) {
    // without bounds each launch would ask Kokkos for the largest team
    using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(sizeof(T) == 4 ? 2 : 3)>;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
    const EachCell<T> lane{cells};
    kokkos::submit(
        queue, "stencil/plain", Policy(exec, launch.league, launch.team, launch.vector),
        KOKKOS_LAMBDA(const typename Policy::member_type& team) {
          for_lanes<1, 1, numbers_of_plain.depth>(team, tiles, lane);
        });
  }
};

const RegisterHalo<Stencil> plain{
    "plain", written_once<float, double>(kokkos::model, []<class T>(Of<T>) { return blocks::named(numbers_of_plain); }),
    by_type_once<Plain>};

}  // namespace
}  // namespace league::stencil::kokkos_model
