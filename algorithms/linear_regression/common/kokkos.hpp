// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>

#include "algorithms/blocks/numbers_kokkos.hpp"
#include "algorithms/linear_regression/common/shard.hpp"
#include "backends/kokkos/submit.hpp"

/// What the kernels in Kokkos share: their policies and launches, and the steps that are the same for all methods.
namespace league::kokkos::linear_regression {

using namespace league::linear_regression;
using blocks::Numbers;

/// A policy of teams of at most `max_lanes` lanes, `teams` of them on a multiprocessor, with so many bytes of scratch
/// memory.
template <int max_lanes, int teams = 1>
auto policy_of(const Exec& exec, Launch launch, std::size_t scratch = 0, int level = 0) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_lanes, launch_bound(teams)>>
      policy(exec, launch.league, launch.team, launch.vector);
  if (scratch > 0) policy.set_scratch_size(level, Kokkos::PerTeam(scratch));
  return light(policy);
}

template <class T>
using DeviceRows = RowMemory<T, Array>;
/// Values on the device, without a count of their users.
template <class T>
using Values = Kokkos::View<T*, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

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
  Values<double> sums;
  KOKKOS_FUNCTION void operator()(int i) const {
    take_step(rule, state, sums, i);
    clear_sums(rule, sums, i);
  }
};

class KokkosShard : public FitShard<Array> {
 public:
  KokkosShard(const LinearRegression& problem, const Context& context, const Shard& shard, int width)
      : FitShard(problem, context, shard, width), exec_(instance(runtime(), queue())) {}
  void begin() const override {
    queue().submit([exec = exec_, sums = sums_.view()] { Kokkos::deep_copy(exec, sums, 0.0); });
    submit_positions("linear_regression/begin", Begin{rule_, state(), problem_.start_weight, problem_.start_bias});
  }
  void update() const override { submit_positions("linear_regression/update", Update{rule_, state(), sums_.view()}); }

 protected:
  template <class Kernel>
  void submit_positions(const char* name, const Kernel& kernel) const {
    submit(queue(), name, Kokkos::RangePolicy<Exec>(exec_, 0, rule_.features + 2), kernel);
  }
  /// The launch of a kernel written once. Automatic teams are no larger than the rows and `fits(lanes)`, which is
  /// whether their scratch memory does, allow; there are as many as the device holds, fewer where a lane would have
  /// less than `rows_per_lane` rows.
  template <class Fits>
  [[nodiscard]] Launch planned(Launch launch, const Numbers& numbers, int max_lanes, std::int64_t rows_per_lane,
                               const Fits& fits) const {
    LaunchLimits most = limits(queue());
    most.team_times_vector = std::min(most.team_times_vector, max_lanes);
    int team = std::min(numbers.team, most.team_times_vector);
    const auto half_is_enough = [&] { return team / 2 >= std::max<std::int64_t>(rows().size(), most.vector); };
    while (team > 1 && team % 2 == 0 && (!fits(team) || half_is_enough())) team /= 2;
    launch = resolve(launch, {0, team, 1}, most);
    const int lanes = launch.team * launch.vector;
    if (!fits(lanes))
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": its sums exceed scratch memory");
    if (launch.league > 0) return launch;
    const std::int64_t held = std::max(1, blocks::lanes_at_once(exec_, numbers, max_lanes) / lanes);
    launch.league = league_of(std::min(held, ceil_div<std::int64_t>(rows().size(), lanes * rows_per_lane)));
    return launch;
  }
  const Exec exec_;
};

}  // namespace league::kokkos::linear_regression
