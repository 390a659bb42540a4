// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/polynomial_fit/common/kokkos.hpp"
#include "algorithms/polynomial_fit/common/lanes.hpp"

/// What the specialised kernels share: their launches, and the walk over the points that native kernels have.
namespace league::kokkos::polynomial_fit::specialised {

using namespace league::polynomial_fit;
using blocks::Scratch, blocks::require_scratch, blocks::scratch_bytes;

template <class T>
auto policy_of(const Exec& exec, Launch launch, int scratch_values) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_persistent_lanes, 1>> policy(
      exec, launch.league, launch.team, launch.vector);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes(scratch_values)));
  return light(policy);
}

/// A lane's sums over its points.
template <class T>
KOKKOS_INLINE_FUNCTION Sums<double, sums_per_step> sums_of(const Points<T>& points, const Cubic<T>& cubic,
                                                           std::int64_t lane, std::int64_t lanes) {
  if constexpr (on_gpu)
    return lane_sums(points, cubic, lane, lanes);
  else
    return range_sums(points, cubic, piece(points.count, lane, lanes));
}

/// A shard of class `Base` with the launches of these kernels.
template <class Base>
class Specialised : public Base {
 public:
  using Base::Base;

 protected:
  /// The method's choice where the launch leaves it open; of the league, where a lane would have less than `points`.
  /// `share`: kernels with many registers take one in so many of a device's threads.
  template <class T>
  [[nodiscard]] Launch resolved(Launch launch, Launch automatic, int share = 1, std::int64_t points = 8) const {
    LaunchLimits allowed = limits(this->queue());
    if (on_gpu) allowed.team_times_vector = std::min(allowed.team_times_vector, max_persistent_lanes);
    launch = resolve(launch, blocks::without_idle_lanes(automatic, this->rows().size(), allowed.vector), allowed);
    const int lanes = launch.team * launch.vector;
    const std::int64_t held =
        std::max(1, (on_gpu ? this->exec_.concurrency() / share : this->queue().device().threads) / lanes);
    if (launch.league == 0)
      launch.league =
          league_of(std::min(held, ceil_div<std::int64_t>(this->rows().size(), on_gpu ? lanes * points : 1)));
    return launch;
  }
};

}  // namespace league::kokkos::polynomial_fit::specialised
