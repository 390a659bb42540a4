// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/stencil/common/shard.hpp"
#include "algorithms/stencil/host/host.hpp"
#include "backends/kokkos/submit.hpp"

// A team takes a tile of cells of several planes, one after another: a lane one cell (`plain`), or 16 bytes of a row or
// one cell of four rows (`tiled`). On a host a thread takes a block of rows.
namespace league::stencil::kokkos_model {
namespace {

using kokkos::Exec, kokkos::Member, kokkos::Team;

/// Lanes of the largest team of `plain`. Without launch bounds a launch would have to ask Kokkos for it, each time.
/// With two such teams per multiprocessor a lane has 32 registers, as in CUDA: as many lanes as the device holds; with
/// three of f64 40, in CUDA 38.
template <class T>
constexpr int max_team = sizeof(T) == 4 ? 1024 : 512;
template <class T>
using PlainBounds = Kokkos::LaunchBounds<max_team<T>, kokkos::launch_bound(sizeof(T) == 4 ? 2 : 3)>;

template <class T>
void plain_kernel(const Exec& exec, Launch launch, Grid<T> grid, Tiling tiling) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, PlainBounds<T>>;
  Kokkos::parallel_for(
      "stencil/plain", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const int lane = blocks::team_group(team, launch.team * launch.vector).rank;
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiling.items;
             item += static_cast<unsigned>(team.league_size()))
          advance_cells(grid, tiling, item, lane);
      });
}

/// Launch bounds: registers for four teams of 256 lanes per multiprocessor, for three if a lane holds four rows of
/// doubles. Without them, kernels with 16-byte accesses are 4 % slower on an H200.
constexpr int max_lanes = 256;
template <class T, int width>
using Bounds = Kokkos::LaunchBounds<max_lanes, kokkos::launch_bound(width > 1 || sizeof(T) == 4 ? 4 : 3)>;

template <class T, int width, int rows>
void tiled_kernel(const Exec& exec, Launch launch, Grid<T> grid, Tiling tiling) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Bounds<T, width>>;
  Kokkos::parallel_for(
      "stencil/tiled", Policy(exec, launch.league, launch.team, launch.vector),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const int lane = blocks::team_group(team, launch.team * launch.vector).rank;
        for (unsigned item = static_cast<unsigned>(team.league_rank()); item < tiling.items;
             item += static_cast<unsigned>(team.league_size()))
          march<width, rows>(grid, tiling, item, lane);
      });
}

template <class T, Method method>
class OnGpu final : public LaneShard<T, kokkos::Array, method> {
  using Base = LaneShard<T, kokkos::Array, method>;

 public:
  OnGpu(const Stencil& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), exec_(kokkos::instance(context.runtime, Base::queue())) {}
  Launch configure(Launch launch) override {
    LaunchLimits allowed = kokkos::limits(Base::queue());
    const int most = method == Method::tiled ? max_lanes : max_team<T>;
    allowed.team_times_vector = std::min(allowed.team_times_vector, most);
    return Base::plan(launch, allowed);
  }
  void advance(int from, int to, Range planes) const override {
    Launch launch = Base::launch();
    const Grid<T> grid = Base::grid(from, to, planes);
    const Tiling tiling = Base::tiling(grid.planes);
    launch.league = std::min(launch.league, static_cast<int>(tiling.items));
    if constexpr (method == Method::plain)
      plain_kernel(exec_, launch, grid, tiling);
    else
      with_cells<T>(grid.n, [&]<int width, int rows>() { tiled_kernel<T, width, rows>(exec_, launch, grid, tiling); });
  }

 private:
  const Exec& exec_;
};

template <class T, Method method>
class OnHost final : public HostShard<T, kokkos::Array, method> {
  using Base = HostShard<T, kokkos::Array, method>;

 public:
  OnHost(const Stencil& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), exec_(kokkos::instance(context.runtime, Base::queue())) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 1, 1}, kokkos::limits(Base::queue()));
    if (launch_.league == 0) launch_.league = std::max(1, Base::queue().device().threads / launch_.team);
    launch_.tile = Base::plan(launch_.tile, launch_.league * launch_.team);
    return launch_;
  }
  void advance(int from, int to, Range planes) const override {
    const Grid<T> grid = Base::grid(from, to, planes);
    const HostTiling tiling = Base::tiling(grid.planes);
    kokkos::submit(Base::queue(), "stencil", Team(exec_, launch_.league, launch_.team, 1),
                   [grid, tiling, zeros = Base::zeros()](const Member& team) {
                     const std::int64_t threads = std::int64_t{team.league_size()} * team.team_size();
                     const std::int64_t thread = std::int64_t{team.league_rank()} * team.team_size() + team.team_rank();
                     for (std::int64_t item = tiling.items * thread / threads;
                          item < tiling.items * (thread + 1) / threads; ++item)
                       advance_block(grid, tiling, item, zeros);
                   });
  }

 private:
  const Exec& exec_;
  Launch launch_;
};

template <class T, Method method>
using Variant = std::conditional_t<kokkos::on_gpu, OnGpu<T, method>, OnHost<T, method>>;
const RegisterHalo<Stencil> plain{"plain", kokkos::model, by_type<Variant, Method::plain>};
const RegisterHalo<Stencil> tiled{"tiled", kokkos::model, by_type<Variant, Method::tiled>};

}  // namespace
}  // namespace league::stencil::kokkos_model
