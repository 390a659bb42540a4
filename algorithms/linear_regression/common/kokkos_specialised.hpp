// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/common/kokkos.hpp"
#include "algorithms/linear_regression/common/lanes.hpp"

/// What the specialised kernels share: their launches, and the walk over the rows that native kernels have.
namespace league::kokkos::linear_regression::specialised {

using namespace league::linear_regression;
using blocks::Scratch, blocks::require_scratch, blocks::scratch_bytes;

/// A shard of class `Base` with the launches of these kernels.
template <class Base = KokkosShard>
class Specialised : public Base {
 public:
  using Base::Base;

 protected:
  /// The method's choice where the launch leaves it open: as many teams as a device holds, fewer where a lane would
  /// have less than `rows_per_lane` rows; smaller teams where one has enough lanes. `share`: kernels with many
  /// registers take one in so many of its threads.
  [[nodiscard]] Launch resolved(Launch launch, int lanes, int max_lanes, std::int64_t rows_per_lane,
                                int share = 1) const {
    LaunchLimits allowed = limits(this->queue());
    const int vector = launch.vector > 0 ? launch.vector : allowed.vector;
    if (on_gpu) allowed.team_times_vector = std::min(allowed.team_times_vector, max_lanes);
    const Launch automatic =
        blocks::without_idle_lanes({0, lanes / vector, vector}, this->rows().size(), allowed.vector);
    launch = resolve(launch, on_gpu ? automatic : Launch{0, 1, 1}, allowed);
    if (launch.league > 0) return launch;
    const std::int64_t in_team = std::int64_t{launch.team} * launch.vector;
    const std::int64_t held = (on_gpu ? this->exec_.concurrency() / share : this->queue().device().threads) / in_team;
    const std::int64_t worth = ceil_div<std::int64_t>(this->rows().size(), on_gpu ? in_team * rows_per_lane : 1);
    launch.league = league_of(std::min(std::max<std::int64_t>(held, 1), worth));
    return launch;
  }
};

using SpecialisedShard = Specialised<>;

/// A lane's sums over its rows in step `step`; a host's threads take them in the same order in every step.
template <class T, int width>
KOKKOS_INLINE_FUNCTION Sums<double, terms<width>> sums_of(const Columns<T>& data, const Line<T, width>& line,
                                                          Place place, [[maybe_unused]] std::int64_t step) {
  if constexpr (on_gpu)
    return lane_sums(data, line, place, step);
  else
    return range_sums(data, line, piece(data.rows, place.first(), place.stride()));
}
/// The same of some of the rows.
template <class T, int width>
KOKKOS_INLINE_FUNCTION Sums<double, terms<width>> sums_of(const Columns<T>& data, const Line<T, width>& line,
                                                          Place place, [[maybe_unused]] std::int64_t step, Range rows) {
  if constexpr (on_gpu)
    return lane_sums(data, line, place, step, rows);
  else
    return range_sums(data, line, piece(rows, place.first(), place.stride()));
}

}  // namespace league::kokkos::linear_regression::specialised
