// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/definite_solve.hpp"
#include "algorithms/logistic_regression/common/state.hpp"

namespace league::logistic {

using blocks::device_solve_side, blocks::host_solve_side;

/// Adds `count` consecutive values by a team, eight loads of a thread under way at a time; calls `put(sum)` by one
/// thread. `scratch`: scratch_size(1, team.size) doubles. @pre all threads call
template <class Barrier, class Put>
LEAGUE_FUNCTION void add_values(const Group<Barrier>& team, const double* values, std::int64_t count, double* scratch,
                                const Put& put) {
  constexpr int on_their_way = 8;
  double mine = 0;
  for (std::int64_t first = team.rank; first < count; first += std::int64_t{on_their_way} * team.size) {
    double next[on_their_way];
    unrolled<on_their_way>([&](int k) {
      const std::int64_t i = first + std::int64_t{k} * team.size;
      next[k] = i < count ? values[i] : 0.0;
    });
    unrolled<on_their_way>([&](int k) { mine += next[k]; });
  }
  team_sums<1>(team, [&](int) { return mine; }, scratch, [&](int, int, double sum) { put(sum); });
}

/// Scratch of a Newton step by a team of side * side threads, in doubles.
template <int side>
constexpr int newton_scratch(int features) {
  const int solve = blocks::definite_scratch<side>(features + 1), looked = look_scratch(features);
  return solve > looked ? solve : looked;
}

/// Solves H s = -gradient; calls `put(j, s_j)`, each by one thread, when no thread reads the state any more. A pivot
/// lost to rounding makes the result NaN.
template <int side, class Barrier, class Put>
LEAGUE_FUNCTION void solve_newton(const Group<Barrier>& team, const Rule& rule, const State& state, double* scratch,
                                  const Put& put) {
  const int n = rule.features + 1;
  const double* hessian = state.sums + gradient_sums(rule.features);
  const auto matrix = [&](int i, int j) {
    return hessian[triangle(j) + i] * rule.share + (i == j && i > 0 ? rule.l2 : 0.0);
  };
  const auto right = [&](int i) { return -gradient_at(rule, state, i); };
  blocks::solve_definite<side, LogisticRegression::max_features + 1>(team, n, 16 * n * 0x1p-53, matrix, right, scratch,
                                                                     put);
}

/// A Newton step from the sums of all rows; `scratch` has newton_scratch<side> doubles. A step that increased the loss
/// is undone and halved instead.
template <int side, class Barrier>
LEAGUE_FUNCTION void newton_step(const Group<Barrier>& team, const Rule& rule, const State& state, double* scratch) {
  const int n = rule.features + 1;
  const std::int64_t halved = state.control[halvings];  // read before `look` waits for all threads
  const Found found = look(team, rule, state, scratch);
  double *before = state.accepted, *direction = before + n, *accepted = direction + n;
  const double highest = found.step > 0 ? *accepted * (1 + newton_slack) : found.loss;
  const bool back = !found.stopped && found.step > 0 && !(found.loss <= highest) && halved < newton_halvings;
  note(team, state, found, !back && found.small);
  if (found.stopped) return;
  if (team.rank == 0) state.control[halvings] = back ? halved + 1 : 0;
  if (back) {
    const double share = 1 / static_cast<double>(std::int64_t{2} << halved);
    for (int j = team.rank; j < n; j += team.size) state.theta[j] = before[j] + direction[j] * share;
    return;
  }
  solve_newton<side>(team, rule, state, scratch, [&](int j, double change) {
    const double theta = state.theta[j];
    before[j] = theta;
    direction[j] = change;
    state.theta[j] = theta + change;
  });
  if (team.rank == 0) *accepted = found.loss;
}

}  // namespace league::logistic
