// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/reduce.hpp"
#include "algorithms/logistic_regression/logistic_regression.hpp"
#include "backends/portable.hpp"

/// The state of a solve, on the device and replicated on every shard, and the step by one team.
namespace league::logistic {

using blocks::add_league, blocks::add_partials, blocks::Group, blocks::partials_size, blocks::scratch_size,
    blocks::team_sums, blocks::tickets_of, blocks::unrolled;

/// Layout of the sums over all rows: loss, gradient (intercept first), and for `newton` the lower triangle of the
/// Hessian, row by row.
LEAGUE_FUNCTION constexpr int gradient_sums(int features) { return features + 2; }
LEAGUE_FUNCTION constexpr int triangle(int n) { return n * (n + 1) / 2; }
LEAGUE_FUNCTION constexpr int newton_sums(int features) { return features + 2 + triangle(features + 1); }

/// Scratch in doubles: logits of threads that share rows (two halves of 16 bytes per thread), later the sums.
template <int features>
constexpr int fused_scratch(int threads) {
  constexpr int n = gradient_sums(features), taken = features < 16 ? n : 18;
  const int shared = 4 * threads, sums = scratch_size(taken > n ? taken : n, threads);
  return shared > sums ? shared : sums;
}

struct Rule {
  int features;
  double share;  ///< weight of a row in the mean
  double learning_rate, l2, tolerance;
};
inline Rule rule_of(const LogisticRegression& problem) {
  return {problem.features, 1 / static_cast<double>(problem.extent()), problem.learning_rate, problem.l2,
          problem.tolerance};
}

/// Indices into `control`.
enum : int { steps_queued, is_stopped, halvings, controls };

struct State {
  double* theta;          ///< [features + 1]
  double* loss;           ///< [steps]
  std::int64_t* taken;    ///< [1]
  const double* sums;     ///< of all rows
  std::int64_t* control;  ///< [controls]
  double* accepted;       ///< newton: the last accepted theta, the step from it, its loss [2 (features + 1) + 1]
};

/// Initial state.
template <class Barrier>
LEAGUE_FUNCTION void begin_state(const Group<Barrier>& team, int features, const State& state) {
  for (int j = team.rank; j <= features; j += team.size) state.theta[j] = 0;
  for (int j = team.rank; j < controls; j += team.size) state.control[j] = 0;
}

/// Component `j` of the mean gradient, with the penalty.
LEAGUE_FUNCTION double gradient_at(const Rule& rule, const State& state, int j) {
  return state.sums[1 + j] * rule.share + (j > 0 ? rule.l2 * state.theta[j] : 0.0);
}

/// Read by every thread before a step changes the state.
struct Found {
  std::int64_t step;
  bool stopped;  ///< before
  double loss;
  bool small;  ///< the gradient is below the tolerance
};
/// `scratch` has look_scratch doubles.
LEAGUE_FUNCTION constexpr int look_scratch(int features) { return 2 * (features + 1); }
template <class Barrier>
LEAGUE_FUNCTION Found look(const Group<Barrier>& team, const Rule& rule, const State& state, double* scratch) {
  const int n = rule.features + 1, looking = team.size < n ? team.size : n;
  Found found{state.control[steps_queued], state.control[is_stopped] != 0, state.sums[0] * rule.share, true};
  double squares = 0, large = 0;
  for (int j = team.rank; j < n; j += team.size) {
    const double component = gradient_at(rule, state, j);
    if (!(component < rule.tolerance && -component < rule.tolerance)) large = 1;
    if (j > 0) squares += state.theta[j] * state.theta[j];
  }
  if (found.stopped) found.loss = state.loss[found.step - 1];
  team.barrier();
  if (team.rank < looking) scratch[2 * team.rank] = squares, scratch[2 * team.rank + 1] = large;
  team.barrier();
  squares = 0;
  for (int i = 0; i < looking; ++i) {
    squares += scratch[2 * i];
    found.small = found.small && scratch[2 * i + 1] == 0;
  }
  if (!found.stopped) found.loss += rule.l2 / 2 * squares;
  team.barrier();
  return found;
}

/// Records what was read. @pre all threads have called `look`
template <class Barrier>
LEAGUE_FUNCTION void note(const Group<Barrier>& team, const State& state, const Found& found, bool stop) {
  if (team.rank != 0) return;
  state.loss[found.step] = found.loss;
  state.control[steps_queued] = found.step + 1;
  if (found.stopped) return;
  *state.taken = found.step + 1;
  if (stop) state.control[is_stopped] = 1;
}

/// A step of gradient descent from the sums of all rows. The step that finds a gradient below the tolerance is the
/// last; later ones repeat its loss.
template <class Barrier>
LEAGUE_FUNCTION void descend(const Group<Barrier>& team, const Rule& rule, const State& state, double* scratch) {
  const Found found = look(team, rule, state, scratch);
  note(team, state, found, found.small);
  if (found.stopped) return;
  for (int j = team.rank; j <= rule.features; j += team.size)
    state.theta[j] -= rule.learning_rate * gradient_at(rule, state, j);
}

}  // namespace league::logistic
