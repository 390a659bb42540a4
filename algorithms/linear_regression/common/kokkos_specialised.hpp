// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums_kokkos.hpp"
#include "algorithms/linear_regression/common/shard.hpp"
#include "backends/kokkos/submit.hpp"

namespace league::kokkos::linear_regression {

using namespace league::linear_regression;

using blocks::Scratch, blocks::require_scratch, blocks::scratch_bytes;

/// A policy of teams of at most `max_lanes` lanes, `teams` of them on a multiprocessor, with so many values of scratch
/// memory.
template <int max_lanes, int teams = 1>
auto policy_of(const Exec& exec, Launch launch, int scratch_values = 0) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_lanes, launch_bound(teams)>>
      policy(exec, launch.league, launch.team, launch.vector);
  if (scratch_values > 0) policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes(scratch_values)));
  return light(policy);
}

template <class T>
using DeviceRows = RowMemory<T, Array>;

/// Kernels over the positions of theta, and the loss's.
struct Begin {
  Rule rule;
  State state;
  double weight, bias;
  KOKKOS_FUNCTION void operator()(int i) const { begin_state(rule, state, weight, bias, i); }
};
struct Update {
  Rule rule;
  State state;
  double* sums;
  KOKKOS_FUNCTION void operator()(int i) const {
    take_step(rule, state, sums, i);
    clear_sums(rule, sums, i);
  }
};

/// The steps that are the same for all methods, and their launches.
class KokkosShard : public FitShard<Array> {
 public:
  KokkosShard(const LinearRegression& problem, const Context& context, const Shard& shard, int width)
      : FitShard(problem, context, shard, width), exec_(instance(runtime(), queue())) {}
  void begin() const override {
    queue().submit([exec = exec_, sums = sums_.view()] { Kokkos::deep_copy(exec, sums, 0.0); });
    submit_positions("linear_regression/begin", Begin{rule_, state(), problem_.start_weight, problem_.start_bias});
  }
  void update() const override { submit_positions("linear_regression/update", Update{rule_, state(), sums_.data()}); }

 protected:
  template <class Kernel>
  void submit_positions(const char* name, const Kernel& kernel) const {
    submit(queue(), name, Kokkos::RangePolicy<Exec>(exec_, 0, rule_.features + 2), kernel);
  }
  /// The method's choice where the launch leaves it open: as many teams as a device holds, fewer where a lane would
  /// have less than `rows_per_lane` rows; smaller teams where one has enough lanes. `share`: kernels with many
  /// registers take one in so many of its threads.
  [[nodiscard]] Launch resolved(Launch launch, int lanes, int max_lanes, std::int64_t rows_per_lane,
                                int share = 1) const {
    LaunchLimits allowed = limits(queue());
    const int vector = launch.vector > 0 ? launch.vector : allowed.vector;
    if (on_gpu) allowed.team_times_vector = std::min(allowed.team_times_vector, max_lanes);
    const Launch automatic = blocks::without_idle_lanes({0, lanes / vector, vector}, rows().size(), allowed.vector);
    launch = resolve(launch, on_gpu ? automatic : Launch{0, 1, 1}, allowed);
    if (launch.league > 0) return launch;
    const std::int64_t in_team = std::int64_t{launch.team} * launch.vector;
    const std::int64_t held = (on_gpu ? exec_.concurrency() / share : queue().device().threads) / in_team;
    const std::int64_t worth = ceil_div<std::int64_t>(rows().size(), on_gpu ? in_team * rows_per_lane : 1);
    launch.league = league_of(std::min(std::max<std::int64_t>(held, 1), worth));
    return launch;
  }
  const Exec exec_;
};

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

}  // namespace league::kokkos::linear_regression
