// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/sums.hpp"
#include "algorithms/polynomial_fit/common/shard.hpp"
#include "backends/kokkos/submit.hpp"

namespace league::kokkos::polynomial_fit {

using namespace league::polynomial_fit;

struct Begin {
  Rule rule;
  State state;
  KOKKOS_FUNCTION void operator()(int i) const { begin_state(rule, state, i); }
};
struct Update {
  Rule rule;
  State state;
  const double* sums;
  KOKKOS_FUNCTION void operator()(int i) const { take_step(rule, state, sums, i); }
};

/// The steps that are the same for all methods, and their launches.
class KokkosShard : public FitShard<Array> {
 public:
  KokkosShard(const PolynomialFit& problem, const Context& context, const Shard& shard, int sums = sums_per_step)
      : FitShard(problem, context, shard, sums), exec_(instance(runtime(), queue())) {}
  void begin() const override { submit_positions("polynomial_fit/begin", Begin{rule_, state()}); }

 protected:
  template <class Kernel>
  void submit_positions(const char* name, const Kernel& kernel) const {
    submit(queue(), name, Kokkos::RangePolicy<Exec>(exec_, 0, sums_per_step), kernel);
  }
  /// The method's choice where the launch leaves it open; of the league, where a lane would have less than `points`.
  /// `share`: kernels with many registers take one in so many of a device's threads.
  template <class T>
  [[nodiscard]] Launch resolved(Launch launch, Launch automatic, int share = 1, std::int64_t points = 8) const {
    LaunchLimits allowed = limits(queue());
    if (on_gpu) allowed.team_times_vector = std::min(allowed.team_times_vector, max_persistent_lanes);
    launch = resolve(launch, blocks::without_idle_lanes(automatic, rows().size(), allowed.vector), allowed);
    const int lanes = launch.team * launch.vector;
    const std::int64_t held = std::max(1, (on_gpu ? exec_.concurrency() / share : queue().device().threads) / lanes);
    if (launch.league == 0)
      launch.league = league_of(std::min(held, ceil_div<std::int64_t>(rows().size(), on_gpu ? lanes * points : 1)));
    return launch;
  }
  const Exec exec_;
};

}  // namespace league::kokkos::polynomial_fit
