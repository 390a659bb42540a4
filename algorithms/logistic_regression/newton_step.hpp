// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/state.hpp"

namespace league::logistic {

/// Scratch of a Newton step, in doubles: the Hessian with the right-hand side as one more row.
constexpr int newton_scratch(int features) { return (features + 1) * (features + 2); }

/// Solves H s = -gradient; leaves s in row n of `a` [(n + 1) x n]. By L D L^T: columns below the diagonal keep L D, the
/// right-hand side is eliminated as one more row. A pivot lost to rounding makes the result NaN.
template <class Barrier>
LEAGUE_FUNCTION void solve_newton(const Group<Barrier>& team, const Rule& rule, const State& state, double* a) {
  const int n = rule.features + 1;
  const double* hessian = state.sums + gradient_sums(rule.features);
  const auto entry = [&](int i, int j) {
    return hessian[triangle(i) + j] * rule.share + (i == j && i > 0 ? rule.l2 : 0.0);
  };
  for (int item = team.rank; item < (n + 1) * n; item += team.size) {
    const int i = item / n, j = item % n;
    a[item] = i == n ? -gradient_at(rule, state, j) : j <= i ? entry(i, j) : 0.0;
  }
  int side = 1;  // threads in a square, so that no index is divided
  while (4 * side * side <= team.size) side *= 2;
  const int row = team.rank / side, column = team.rank % side;
  double inverse = 0;
  for (int k = 0; k < n; ++k) {
    team.barrier();
    const bool definite = a[k * n + k] > 16 * n * 0x1p-53 * entry(k, k);
    inverse = definite ? 1 / a[k * n + k] : 0.0 / 0.0;
    constexpr int together = 4;  // rows whose loads overlap
    for (int first = k + 1 + row; first <= n && row < side; first += together * side)
      for (int j = k + 1 + column; j < n && j <= first + (together - 1) * side; j += side) {
        const double right = a[j * n + k] * inverse;
        double values[together] = {};
        blocks::unrolled<together>([&](int t) {
          const int i = first + t * side;
          if (i <= n) values[t] = a[i * n + j] - a[i * n + k] * right;
        });
        blocks::unrolled<together>([&](int t) {
          const int i = first + t * side;
          if (i <= n && j <= i) a[i * n + j] = values[t];
        });
      }
  }
  double* right = a + n * n;
  for (int k = n - 1; k >= 0; --k) {
    team.barrier();
    const double value = k == n - 1 ? right[k] * inverse : right[k] / a[k * n + k];
    team.barrier();
    for (int j = team.rank; j < k; j += team.size) right[j] -= a[k * n + j] * value;
    if (team.rank == 0) right[k] = value;
  }
  team.barrier();
}

/// A Newton step from the sums of all rows; `scratch` has newton_scratch doubles. A step that increased the loss is
/// undone and halved instead.
template <class Barrier>
LEAGUE_FUNCTION void newton_step(const Group<Barrier>& team, const Rule& rule, const State& state, double* scratch) {
  const int n = rule.features + 1;
  const Found found = look(team, rule, state, scratch);
  double *before = state.accepted, *direction = before + n, *accepted = direction + n;
  const std::int64_t halved = state.control[halvings];
  const double highest = found.step > 0 ? *accepted * (1 + newton_slack) : found.loss;
  const bool back = !found.stopped && found.step > 0 && !(found.loss <= highest) && halved < newton_halvings;
  if (!found.stopped && !back) solve_newton(team, rule, state, scratch);
  team.barrier();
  note(team, state, found, !back && found.small);
  if (found.stopped) return;
  if (back) {
    const double share = 1 / static_cast<double>(std::int64_t{2} << halved);
    for (int j = team.rank; j < n; j += team.size) state.theta[j] = before[j] + direction[j] * share;
  } else {
    for (int j = team.rank; j < n; j += team.size) {
      before[j] = state.theta[j];
      direction[j] = scratch[n * n + j];
      state.theta[j] += direction[j];
    }
    if (team.rank == 0) *accepted = found.loss;
  }
  if (team.rank == 0) state.control[halvings] = back ? halved + 1 : 0;
}

}  // namespace league::logistic
