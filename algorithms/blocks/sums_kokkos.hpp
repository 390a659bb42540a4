// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "algorithms/blocks/sums.hpp"
#include "backends/kokkos/kokkos.hpp"

namespace league::blocks {

/// Team scratch memory for sums.
using Scratch = Kokkos::View<double*, kokkos::Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Bytes of scratch for `values` values.
inline std::size_t scratch_bytes(int values) { return Scratch::shmem_size(static_cast<std::size_t>(values)); }
/// @throws Unsupported where a team has less
inline void require_scratch(Launch launch, int values) {
  kokkos::require_scratch(scratch_bytes(values), "team size " + std::to_string(launch.team));
}

/// Team scratch of `sums_for_all`, in values, for `turns` turns; `league_sums` needs one.
template <int n>
constexpr int sums_for_all_size(Launch launch, int turns = 2) {
  return turns * n * launch.team;
}

/// Adds over a team; all threads get the sums, with one barrier. The lanes of a thread reduce `lane_sums(lane)`, then
/// every thread adds the sums of all threads in order. (`team_reduce` of several values serialises over shared memory,
/// a few threads at a time: microseconds on a GPU.) `scratch` [sums_for_all_size] is multi-buffered by `turn`: a new
/// turn does not overwrite what slower threads still read.
/// @pre all threads call, with `turn` incremented each time
template <class T, int n, class LaneSums>
KOKKOS_INLINE_FUNCTION Sums<double, n> sums_for_all(const kokkos::Member& team, int lanes, double* scratch,
                                                    std::int64_t turn, const LaneSums& lane_sums) {
  const int threads = team.team_size();
  Sums<T, n> of_thread;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(team, lanes), [&](int lane, Sums<T, n>& sum) { sum += lane_sums(lane); }, of_thread);
  double* of_threads = scratch + (turn & 1) * n * threads;
  Kokkos::single(Kokkos::PerThread(team), [&] {
    for (int i = 0; i < n; ++i) of_threads[team.team_rank() * n + i] = static_cast<double>(of_thread.values[i]);
  });
  team.team_barrier();
  return ordered_sums<n>(of_threads, threads);
}

/// Adds `partials` [teams x n]; all threads of the last team call. `lanes`: the vector length.
template <int n>
KOKKOS_INLINE_FUNCTION void add_partials(const kokkos::Member& team, int lanes, const double* partials, double* sums,
                                         double* scratch) {
  const int threads = team.team_size(), all = threads * lanes, teams = team.league_size();
  if constexpr (n <= few_sums) {  // a lane takes all values of some teams
    const auto total = sums_for_all<double, n>(team, lanes, scratch, 0, [&](int lane) {
      Sums<double, n> mine;
      for (int rank = team.team_rank() * lanes + lane; rank < teams; rank += all)
        for (int i = 0; i < n; ++i) mine.values[i] += partials[std::int64_t{rank} * n + i];
      return mine;
    });
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      for (int i = 0; i < n; ++i) sums[i] = total.values[i];
    });
  } else {  // a lane takes one value of some teams
    const int chunks = all / n < 1 ? 1 : all / n < threads ? all / n : threads;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n * chunks), [&](int at) {
      double sum = 0;
      for (int rank = at / n; rank < teams; rank += chunks) sum += partials[std::int64_t{rank} * n + at % n];
      scratch[at] = sum;
    });
    team.team_barrier();
    const int values = n;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, values), [&](int i) {
      double sum = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) sum += scratch[chunk * n + i];
      sums[i] = sum;
    });
  }
}

/// Last-block reduction over the league, in an order that depends on the launch only: every team writes its sums to
/// `partials` [teams x n], and the last one to arrive adds them into `sums` [n]. `scratch`: that of `sums_for_all`.
/// @pre `ticket` is 0, and is reset to 0; all threads call
/// @returns whether this team was the last: its threads see `sums` after a barrier
template <int n>
KOKKOS_INLINE_FUNCTION bool league_sums(const kokkos::Member& team, int lanes, const Sums<double, n>& of_team,
                                        double* partials, unsigned* ticket, double* sums, double* scratch) {
  const int teams = team.league_size();
  int last = 0;
  Kokkos::single(
      Kokkos::PerTeam(team),
      [&](int& is_last) {
        double* own = teams == 1 ? sums : partials + std::int64_t{team.league_rank()} * n;
        for (int i = 0; i < n; ++i) own[i] = of_team.values[i];
        Kokkos::memory_fence();
        is_last = teams == 1 || Kokkos::atomic_fetch_add(ticket, 1U) + 1 == static_cast<unsigned>(teams) ? 1 : 0;
      },
      last);
  if (last == 0) return false;
  if (teams == 1) return true;
  Kokkos::memory_fence();
  team.team_barrier();  // the scratch memory has been read
  add_partials<n>(team, lanes, partials, sums, scratch);
  Kokkos::single(Kokkos::PerTeam(team), [&] { *ticket = 0; });
  return true;
}

}  // namespace league::blocks
