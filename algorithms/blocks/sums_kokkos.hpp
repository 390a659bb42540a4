// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "algorithms/blocks/group_kokkos.hpp"
#include "algorithms/blocks/sums.hpp"

namespace league::blocks {

/// Team scratch memory for sums.
using Scratch = Kokkos::View<double*, kokkos::Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Bytes of scratch for `values` values.
inline std::size_t scratch_bytes(int values) { return Scratch::shmem_size(static_cast<std::size_t>(values)); }
/// @throws Unsupported where a team has less
inline void require_scratch(Launch launch, int values) {
  kokkos::require_scratch(scratch_bytes(values), "team size " + std::to_string(launch.team));
}

/// Adds `partials` [teams x n] into `sums` [n]; all threads of the last team call. `scratch`: that of `sums_for_all`.
template <int n, class Barrier>
KOKKOS_INLINE_FUNCTION void add_partials(const Group<Barrier>& team, int teams, const double* partials, double* sums,
                                         double* scratch) {
  if constexpr (n <= few_sums) {  // a thread takes all values of some teams
    Sums<double, n> mine;
    for (int rank = team.rank; rank < teams; rank += team.size)
      for (int i = 0; i < n; ++i) mine.values[i] += partials[std::int64_t{rank} * n + i];
    const auto total = sums_for_all(team, mine, scratch);
    if (team.rank == 0)
      for (int i = 0; i < n; ++i) sums[i] = total.values[i];
  } else {  // a thread takes one value of some teams
    const int chunks = team.size > n ? team.size / n : 1;
    for (int at = team.rank; at < n * chunks; at += team.size) {
      double sum = 0;
      for (int rank = at / n; rank < teams; rank += chunks) sum += partials[std::int64_t{rank} * n + at % n];
      scratch[at] = sum;
    }
    team.barrier();
    for (int i = team.rank; i < n; i += team.size) {
      double sum = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) sum += scratch[chunk * n + i];
      sums[i] = sum;
    }
  }
}

/// Last-block reduction over the league, in an order that depends on the launch only: every team writes its sums to
/// `partials` [teams x n], and the last one to arrive adds them into `sums` [n]. `scratch`: that of `sums_for_all`.
/// @pre `ticket` is 0, and is reset to 0; all threads call
/// @returns whether this team was the last: its threads see `sums` after a barrier
template <int n, class Barrier>
KOKKOS_INLINE_FUNCTION bool league_sums(const kokkos::Member& member, const Group<Barrier>& team,
                                        const Sums<double, n>& of_team, double* partials, unsigned* ticket,
                                        double* sums, double* scratch) {
  const int teams = member.league_size();
  if (team.rank == 0) {
    double* own = teams == 1 ? sums : partials + std::int64_t{member.league_rank()} * n;
    for (int i = 0; i < n; ++i) own[i] = of_team.values[i];
  }
  if (teams == 1) return true;
  if (!comes_last(member, ticket, static_cast<unsigned>(teams))) return false;
  add_partials<n>(team, teams, partials, sums, scratch);
  return true;
}

}  // namespace league::blocks
