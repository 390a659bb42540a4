// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/kokkos_specialised.hpp"

namespace league::kokkos::logistic_regression {

/// A team adds `count` consecutive values.
struct AddRows {
  State state;
  std::int64_t count;
  const double* partials;
  double* sums;
  int threads;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    double* scratch = scratch_of<double>(member, scratch_size(1, threads));
    const std::int64_t rank = member.league_rank();
    if (state.control[is_stopped] != 0) return;
    add_values(team_group(member, threads), partials + rank * count, count, scratch,
               [&](double sum) { sums[rank] = sum; });
  }
};

/// Adds the `count` partials of each sum of a Newton step, one team per sum.
template <class T>
void add_partials_of(const Exec& exec, const SolveMemory<Array, T>& memory, std::int64_t count) {
  Launch launch = small();
  launch.league = newton_sums(memory.features);
  submit(memory.shard.queue(), "logistic_regression/add_rows",
         bounded_policy(exec, launch, scratch_size(1, launch.team)),
         AddRows{memory.state(), count, memory.partials.data(), memory.sums.data(), launch.team});
}

struct NewtonOnce {
  static constexpr int side = on_gpu ? device_solve_side : host_solve_side;
  Rule rule;
  State state;
  int doubles;  ///< scratch
  int threads;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    newton_step<side>(team_group(member, threads), rule, state, scratch_of<double>(member, doubles));
  }
};

/// Takes the Newton step from the sums.
template <class T>
void take_newton_step(const Exec& exec, const SolveMemory<Array, T>& memory) {
  const int doubles = newton_scratch<NewtonOnce::side>(memory.features);
  const Launch one = small(NewtonOnce::side * NewtonOnce::side);
  submit(memory.shard.queue(), "logistic_regression/newton_step", bounded_policy(exec, one, doubles),
         NewtonOnce{memory.rule, memory.state(), doubles, one.team});
}

}  // namespace league::kokkos::logistic_regression
