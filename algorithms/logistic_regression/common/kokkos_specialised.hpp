// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/logistic_regression/common/newton_step.hpp"
#include "algorithms/logistic_regression/common/shard.hpp"
#include "algorithms/logistic_regression/host/host.hpp"
#include "backends/kokkos/submit.hpp"

namespace league::kokkos::logistic_regression {

using namespace league::logistic;  // NOLINT: the algorithm's own words
using blocks::comes_last, blocks::team_group;

/// Maximum threads per team, limited by registers.
inline constexpr int max_threads = 256;

/// Scratch level: level 0 of a host has only 32 KiB.
inline constexpr int scratch_level = on_gpu ? 0 : 1;

/// A policy whose teams have `doubles` of scratch and `extra` values of T. `teams` of `max_team` threads share a
/// multiprocessor.
template <int teams = 1, class T = double, int max_team = max_threads>
auto bounded_policy(const Exec& exec, Launch launch, int doubles, int extra = 0) {
  Kokkos::TeamPolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<max_team, launch_bound(teams)>> policy(
      exec, launch.league, launch.team, launch.vector);
  const std::size_t bytes =
      sizeof(double) * static_cast<std::size_t>(doubles) + sizeof(T) * static_cast<std::size_t>(extra) + 32;
  policy.set_scratch_size(scratch_level, Kokkos::PerTeam(static_cast<int>(bytes)));
  return policy;
}

template <class T, class M>
KOKKOS_INLINE_FUNCTION T* scratch_of(const M& team, int size) {
  return aligned_scratch<T>(team, static_cast<std::size_t>(size) * sizeof(T), scratch_level);
}

/// theta converted to the data's type, zero-padded. @pre all threads call
template <class T, class Barrier>
KOKKOS_INLINE_FUNCTION void load_weights(const Group<Barrier>& team, const State& state, int features, int n,
                                         T* weights) {
  for (int j = team.rank; j < n; j += team.size) weights[j] = j <= features ? static_cast<T>(state.theta[j]) : T{0};
  team.barrier();
}

// Kernels in headers are functors, not lambdas: nvcc generates the wrappers of an extended lambda per translation unit,
// while the linker merges the inline functions that call it (ODR violation).

/// Sets the state before the first step.
struct Begin {
  State state;
  int features;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    begin_state(team_group(team, team.team_size()), features, state);
  }
};

/// Takes the gradient step from the sums.
struct Descend {
  Rule rule;
  State state;
  int doubles;  ///< scratch
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    descend(team_group(team, team.team_size()), rule, state, scratch_of<double>(team, doubles));
  }
};

/// The launch of a single-team kernel.
constexpr Launch small(int threads = 128) { return {1, on_gpu ? threads : 1, 1}; }

template <class T>
void begin_solve(const Exec& exec, const SolveMemory<Array, T>& memory) {
  submit(memory.shard.queue(), "logistic_regression/begin", bounded_policy(exec, small(), 0),
         Begin{memory.state(), memory.features});
}

template <class T>
void descend_alone(const Exec& exec, const SolveMemory<Array, T>& memory) {
  const int doubles = look_scratch(memory.features);
  submit(memory.shard.queue(), "logistic_regression/descend", bounded_policy(exec, small(), doubles),
         Descend{memory.rule, memory.state(), doubles});
}

/// The default launch: as many teams as are resident at once, none without rows. A team takes `tile(threads)` rows at a
/// time; on a host a thread takes its own blocks.
template <class Tile>
Launch resolve_for(const VariantShard& shard, Launch launch, int team, int teams_per_multiprocessor, const Tile& tile,
                   int max_team = max_threads) {
  LaunchLimits allowed = limits(shard.queue());
  if (on_gpu) allowed.team_times_vector = max_team;
  launch = resolve(launch, {0, on_gpu ? team : 1, 1}, allowed);
  launch.tile = on_gpu ? tile(launch.team * launch.vector) : static_cast<int>(host_block);
  if (launch.league == 0)
    launch.league = on_gpu ? std::min(league_of(ceil_div<std::int64_t>(shard.rows().size(), std::max(launch.tile, 1))),
                                      multiprocessors(shard) * teams_per_multiprocessor)
                           : std::max(1, shard.queue().device().threads / launch.team);
  return launch;
}

/// A thread of a league on a host, which takes its own blocks of rows.
struct Worker {
  std::int64_t rank, of;
};

/// On a host: calls `body(worker)` on every thread of the league, unless the solve has stopped.
template <class Body>
void each_worker(Queue& queue, const Exec& exec, const char* label, Launch launch, const State& state,
                 const Body& body) {
  submit(queue, label, Team(exec, launch.league, launch.team, 1), [=](const Member& team) {
    if (state.control[is_stopped] != 0) return;
    body(Worker{std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(),
                std::int64_t{team.league_size()} * team.team_size()});
  });
}

/// On a host: every worker adds its blocks of rows by `add(blocks, sums)` to n sums of its own, initially 0, which then
/// go to `partials` [workers x n]: no two threads add into one cache line.
template <class Add>
void host_accumulate(Queue& queue, const Exec& exec, const char* label, Launch launch, const State& state,
                     std::int64_t rows, int n, double* partials, const Add& add) {
  each_worker(queue, exec, label, launch, state, [=](Worker worker) {
    double mine[newton_sums(LogisticRegression::max_features)];
    for (int i = 0; i < n; ++i) mine[i] = 0;
    add(blocks_of(rows, worker.rank, worker.of), mine);
    for (int i = 0; i < n; ++i) partials[worker.rank * n + i] = mine[i];
  });
}

/// On a host: one thread adds the sums of all. (A template, so that it is not compiled where Exec is a GPU.)
template <class E>
void host_finish(Queue& queue, const E& exec, Launch launch, const State& state, int n, const double* partials,
                 double* sums) {
  const std::int64_t workers = std::int64_t{launch.league} * launch.team;
  submit(queue, "logistic_regression/finish", Team(exec, 1, 1, 1), [=](const Member&) {
    if (state.control[is_stopped] != 0) return;
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t worker = 0; worker < workers; ++worker) sum += partials[worker * n + i];
      sums[i] = sum;
    }
  });
}

}  // namespace league::kokkos::logistic_regression
