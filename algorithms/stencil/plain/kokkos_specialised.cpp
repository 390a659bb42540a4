// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/stencil/common/kokkos_specialised.hpp"

namespace league::stencil::kokkos_specialised_model {
namespace {

struct Plain {
  /// Without launch bounds a launch would have to ask Kokkos for the largest team, each time. With two such teams per
  /// multiprocessor a lane has 32 registers, as in CUDA: as many lanes as the device holds; with three of f64 40, in
  /// CUDA 38.
  template <class T>
  static constexpr int max_lanes() {
    return sizeof(T) == 4 ? 1024 : 512;
  }

  // A team takes a tile of cells of several planes, one after another: a lane one cell.
  template <class T>
  static void run(const Exec& exec, Launch launch, const Grid<T>& grid, const Tiling& tiling) {
    using Bounds = Kokkos::LaunchBounds<max_lanes<T>(), kokkos::launch_bound(sizeof(T) == 4 ? 2 : 3)>;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds>;
    Kokkos::parallel_for(
        "stencil/plain", Policy(exec, launch.league, launch.team, launch.vector),
        KOKKOS_LAMBDA(const typename Policy::member_type& team) {
          const int lane = blocks::team_group(team, launch.team * launch.vector).rank;
          for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiling.items;
               item += static_cast<unsigned>(team.league_size()))
            advance_cells(grid, tiling, item, lane);
        });
  }
};

const RegisterHalo<Stencil> plain{"plain", several_bodies(kokkos::specialised_model, true), make<Method::plain, Plain>};

}  // namespace
}  // namespace league::stencil::kokkos_specialised_model
