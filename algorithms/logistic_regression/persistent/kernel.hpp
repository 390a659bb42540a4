// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/league_all_reduce.hpp"
#include "algorithms/blocks/league_barrier.hpp"
#include "algorithms/logistic_regression/common/shard.hpp"

/// The method `persistent`, the same in CUDA and Kokkos: one launch for all steps. Every team adds its tiles, gets the
/// sums of all teams, and takes the same step from them. With few features every thread keeps theta and the sums in
/// registers, with more a team keeps them in scratch.
namespace league::logistic {

/// Whether every thread keeps theta and all sums in registers.
template <int features>
inline constexpr bool fits_registers = features <= 8;
/// The sums of such a thread.
template <int features>
using RegisterSums = blocks::Sums<double, gradient_sums(features)>;

/// Teams per multiprocessor of an automatic launch, at most: each waits for all others in every step.
template <int features>
inline constexpr int waiting_teams = fits_registers<features> ? 2 : default_teams<features>;

/// The default team: of half the threads where sums fit registers, for rows of few packs per thread.
template <class T, int features>
int waiting_team(std::int64_t rows, int multiprocessors) {
  constexpr int half = default_team<features> / 2, packs = features <= 4 ? 2 : 16;
  const std::int64_t few = std::int64_t{packs} * rows_at_once<T> * half * multiprocessors;
  return fits_registers<features> && rows <= few ? half : default_team<features>;
}

/// The league of an automatic launch, which takes `launch.tile` rows at a time per team; `held`: teams that are on the
/// device at once. Few rows in all take few teams.
template <int features>
int automatic_league(std::int64_t rows, Launch launch, int held, int multiprocessors) {
  constexpr std::int64_t few_packs = features <= 4 ? 20 : 4;           // of a thread
  constexpr int few_teams = features <= 4 ? 64 : 32, few_rows = 1536;  // of a team
  const int most = std::min(launch.league, held);
  if (!fits_registers<features>) return most;
  if (rows <= std::int64_t{few_rows} * few_teams) return std::min(most, few_teams);
  return blocks::waiting_league(rows, few_packs * launch.tile, multiprocessors, most);
}

/// Words of the board through which teams send each other their sums.
template <int features>
constexpr std::int64_t board_words(int features_of_problem, int teams) {
  if constexpr (fits_registers<features>) return blocks::league_sums_words<gradient_sums(features)>(teams);
  return blocks::all_reduce_words(gradient_sums(features_of_problem), teams);
}

/// The first packs of a team's tiles: every `stride`-th of `packs` from `first` to `last`; none if `last` < 0.
struct OwnTiles {
  std::int64_t packs, first, last, stride;

  /// Of team `rank` of `teams`, for tiles of `size` packs.
  LEAGUE_FUNCTION static OwnTiles of(std::int64_t packs, std::int64_t rank, std::int64_t teams, int size) {
    const std::int64_t first = rank * size, stride = teams * size;
    return {packs, first, first < packs ? blocks::last_of(packs, first, stride) : -1, stride};
  }
  /// Calls `add(pack)` with each, in every other step from the last to the first, in two loops: see `for_tiles`.
  template <class Add>
  LEAGUE_FUNCTION void each(std::int64_t step, const Add& add) const {
    if (step % 2 == 0)
      for (std::int64_t pack = first; pack < packs; pack += stride) add(pack);
    else
      for (std::int64_t pack = last; pack >= 0; pack -= stride) add(pack);
  }
};

/// All steps by a thread of team `rank` of `teams`, for `fits_registers<features>`. `sum_all(sums, step)` adds the sums
/// of all threads of the league, the same for each. Indices are compile-time constants, so that arrays are registers.
/// @pre all threads of all teams call; all teams run at once
template <class T, int features, class Barrier, class SumAll>
LEAGUE_FUNCTION void take_all_steps_in_registers(const Group<Barrier>& team, std::int64_t rank, std::int64_t teams,
                                                 const Rows<T>& rows, const Rule& rule, std::int64_t steps,
                                                 const State& state, const SumAll& sum_all) {
  const auto own = OwnTiles::of((rows.count + rows_at_once<T> - 1) / rows_at_once<T>, rank, teams, team.size);
  const bool first = rank == 0 && team.rank == 0;
  double theta[features + 1] = {}, loss = 0;
  std::int64_t step = 0;
  for (bool last = false; !last && step < steps; ++step) {
    T weights[features + 1];
    unrolled<features + 1>([&](int j) { weights[j] = static_cast<T>(theta[j]); });
    ThreadSum<T> of_thread[gradient_sums(features)];
    own.each(step, [&](std::int64_t pack) {
      with_whole(rows, pack + team.rank, [&]<bool whole>() {
        const Neighbours<T, features, whole> neighbours(rows, pack + team.rank, 0);
        add_gradient(neighbours, neighbours.logits(weights + 1), weights[0], true, of_thread);
      });
    });
    RegisterSums<features> mine;
    unrolled<gradient_sums(features)>([&](int i) { mine.values[i] = of_thread[i].value(); });
    const RegisterSums<features> sums = sum_all(mine, step);
    double squares = 0;
    last = true;
    unrolled<features + 1>([&](int j) {  // beyond the features: the weights stay 0
      const double penalty = j > 0 ? rule.l2 * theta[j] : 0.0;
      const double component = j <= rule.features ? sums.values[1 + j] * rule.share + penalty : 0.0;
      last = last && component < rule.tolerance && -component < rule.tolerance;
      if (j > 0) squares += theta[j] * theta[j];
      theta[j] -= rule.learning_rate * component;
    });
    loss = sums.values[0] * rule.share + rule.l2 / 2 * squares;
    if (first) state.loss[step] = loss;
  }
  if (rank != 0) return;
  for (std::int64_t later = step + team.rank; later < steps; later += team.size) state.loss[later] = loss;
  if (!first) return;
  unrolled<features + 1>([&](int j) {
    if (j <= rule.features) state.theta[j] = theta[j];
  });
  *state.taken = step;
}

/// What a team keeps in scratch through all steps.
template <class T, int features>
struct OwnSolve {
  double sums[gradient_sums(features)], theta[features + 1];
  std::int64_t control[controls];
  T weights[features + 1];  ///< theta, zero-padded
};

/// Values in a round of the sums over a team: with fewer, more teams' scratch fits into a multiprocessor.
template <int features>
inline constexpr int sums_at_once = blocks::even_rounds(features_per_thread<features> + 2);

/// Scratch of `take_all_steps` in doubles: logits of threads that share rows (two halves of 16 bytes per thread), the
/// sums over the team, those over the league, and what `look` reads.
template <int features>
constexpr int persistent_scratch(int threads) {
  const int sums = blocks::scratch_size(features_per_thread<features> + 2, threads, sums_at_once<features>);
  return std::max({4 * threads, sums, 2 * gradient_sums(features)});
}

/// All steps by team `rank` of `teams`. `scratch`: `persistent_scratch`. @pre all threads of all teams call; all teams
/// run at once
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
    add_team<features, sums_at_once<features>>(team, rows, of_thread, scratch,
                                               [&](int i, double sum) { own.sums[i] = sum; });
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
