// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/stencil/common/lanes.hpp"
#include "algorithms/stencil/host/host.hpp"
#include "backends/kokkos/submit.hpp"

/// What the specialised stencils share: the native kernels' lanes on a GPU, the native rows on a host.
namespace league::stencil::kokkos_specialised_model {

using kokkos::Exec, kokkos::Member, kokkos::Team;

/// A method on a GPU: `Kernel::run(exec, launch, grid, tiling)` launches its kernel for teams of at most
/// `Kernel::max_lanes<T>()`.
template <class T, Method method, class Kernel>
class OnGpu final : public LaneShard<T, kokkos::Array, method> {
  using Base = LaneShard<T, kokkos::Array, method>;

 public:
  OnGpu(const Stencil& problem, const Context& context, const Shard& shard)
      : Base(problem, context, shard), exec_(kokkos::instance(context.runtime, Base::queue())) {}
  Launch configure(Launch launch) override {
    LaunchLimits allowed = kokkos::limits(Base::queue());
    allowed.team_times_vector = std::min(allowed.team_times_vector, Kernel::template max_lanes<T>());
    return Base::plan(launch, allowed);
  }
  void advance(int from, int to, Range planes) const override {
    Launch launch = Base::launch();
    const Grid<T> grid = Base::grid(from, to, planes);
    const Tiling tiling = Base::tiling(grid.planes);
    launch.league = std::min(launch.league, static_cast<int>(tiling.items));
    Kernel::run(exec_, launch, grid, tiling);
  }

 private:
  const Exec& exec_;
};

/// A method on a host: a thread takes a block of rows.
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

template <Method method, class Kernel>
std::unique_ptr<HaloShard> make(const Stencil& problem, const Context& context, const Shard& shard) {
  return with_type<float, double>(problem.dtype, [&]<class T>() -> std::unique_ptr<HaloShard> {
    using Chosen = std::conditional_t<kokkos::on_gpu, OnGpu<T, method, Kernel>, OnHost<T, method>>;
    return std::make_unique<Chosen>(problem, context, shard);
  });
}

}  // namespace league::stencil::kokkos_specialised_model
