// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/kokkos_specialised.hpp"

namespace league::stencil::kokkos_specialised_model {
namespace {

// A team takes a tile of cells of several planes, one after another: a lane 16 bytes of a row, or one cell of four
// rows.
template <class T, int width, int rows>
void tiled_kernel(const Exec& exec, Launch launch, Grid<T> grid, Tiling tiling) {
  // Registers for four teams of 256 lanes per multiprocessor, for three if a lane holds four rows of doubles. Without
  // these bounds, kernels with 16-byte accesses are 4 % slower on an H200.
  using Bounds = Kokkos::LaunchBounds<256, kokkos::launch_bound(width > 1 || sizeof(T) == 4 ? 4 : 3)>;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
  Kokkos::parallel_for(
      "stencil/tiled", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const int lane = blocks::team_group(team, launch.team * launch.vector).rank;
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiling.items;
             item += static_cast<unsigned>(team.league_size()))
          march<width, rows>(grid, tiling, item, lane);
      });
}

struct Tiled {
  template <class T>
  static constexpr int max_lanes() {
    return 256;
  }
  template <class T>
  static void run(const Exec& exec, Launch launch, const Grid<T>& grid, const Tiling& tiling) {
    with_cells<T>(grid.n, [&]<int width, int rows>() { tiled_kernel<T, width, rows>(exec, launch, grid, tiling); });
  }
};

const RegisterHalo<Stencil> tiled{"tiled", several_bodies(kokkos::specialised_model, true), make<Method::tiled, Tiled>};

}  // namespace
}  // namespace league::stencil::kokkos_specialised_model
