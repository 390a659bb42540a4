// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/logistic_regression/shard.hpp"

/// The method `persistent`, the same in CUDA and Kokkos: one launch for all steps. Every team keeps theta in scratch,
/// adds its tiles as `fused` does, gets the sums of all teams and takes the same step from them.
namespace league::logistic {

/// What a team keeps in scratch through all steps.
template <class T, int features>
struct OwnSolve {
  double sums[gradient_sums(features)], theta[features + 1];
  std::int64_t control[controls];
  T weights[features + 1];  ///< theta, zero-padded
};

/// All steps by team `rank` of `teams`. `scratch`: `fused_scratch`. @pre all threads of all teams call; all teams run
/// at once
template <class T, int features, class Barrier, class Atomics>
LEAGUE_FUNCTION void take_all_steps(const Group<Barrier>& team, std::int64_t rank, std::int64_t teams,
                                    const Rows<T>& rows, const Rule& rule, std::int64_t steps, const State& state,
                                    stamped::Word* board, const Atomics& atomics, OwnSolve<T, features>& own,
                                    double* scratch) {
  const State mine{own.theta, nullptr, nullptr, own.sums, own.control, nullptr};
  begin_state(team, rule.features, mine);
  team.barrier();
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int j = team.rank; j <= features; j += team.size)
      own.weights[j] = j <= rule.features ? static_cast<T>(own.theta[j]) : T{0};
    team.barrier();
    ThreadSum<T> of_thread[features_per_thread<features> + 2];
    add_tiles<features>(team, rows, mine, own.weights, rank, teams, reinterpret_cast<blocks::Pack<T, 16>*>(scratch),
                        of_thread);
    add_team<features>(team, rows, of_thread, scratch, [&](int i, double sum) { own.sums[i] = sum; });
    blocks::league_all_reduce(team, rank, teams, gradient_sums(rows.features), own.sums, board, step, atomics, scratch);
    const Found found = look(team, rule, mine, scratch);
    for (int j = team.rank; j <= rule.features; j += team.size)
      own.theta[j] -= rule.learning_rate * gradient_at(rule, mine, j);
    const bool last = found.small || step + 1 == steps;
    if (team.rank == 0) {
      own.control[steps_queued] = step + 1;
      if (rank == 0)
        for (std::int64_t s = step; s < (last ? steps : step + 1); ++s) state.loss[s] = found.loss;
      if (rank == 0 && last) *state.taken = step + 1;
    }
    if (last) break;
    team.barrier();
  }
  if (rank == 0)
    for (int j = team.rank; j <= rule.features; j += team.size) state.theta[j] = own.theta[j];
}

}  // namespace league::logistic
