// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/once_per_team_kokkos.hpp"
#include "algorithms/blocks/unrolled.hpp"

namespace league::blocks {

/// Whether this team is the last of `teams` to call; its lanes then see what the others wrote before. `flag`: a value
/// in the team's scratch. One lane's fences order the writes of its team, since they are cumulative over the barriers.
/// @pre `ticket` is 0, and is reset to 0; the whole team calls
template <class Flag>
KOKKOS_FORCEINLINE_FUNCTION bool comes_last(const kokkos::Member& team, int teams, unsigned& ticket, Flag& flag) {
  team.team_barrier();
  once_per_team(team, [&] {
    Kokkos::memory_fence();
    const bool is_last = Kokkos::atomic_fetch_add(&ticket, 1U) + 1 == static_cast<unsigned>(teams);
    if (is_last) ticket = 0;
    Kokkos::memory_fence();
    flag = is_last ? 1 : 0;
  });
  team.team_barrier();
  return flag != 0;
}

/// Adds the sums of all teams, `partials` [teams x n], by the lanes of one; `put(i, sum)` is called by one lane each.
/// `values`: in the team's scratch, as many as the larger of `lanes` and `n`. @pre the whole team calls
template <class Values, class Partials, class Put>
KOKKOS_FORCEINLINE_FUNCTION void add_teams(const kokkos::Member& team, int lanes, int n, const Values& values,
                                           const Partials& partials, const Put& put) {
  const int teams = team.league_size(), parts = lanes > n ? lanes / n : 1;
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n * parts), [&](int item) {
    const int part = item / n, i = item - part * n;
    values(item) = sum_in_order<16>((teams - part + parts - 1) / parts,
                                    [&](int k) { return partials((std::int64_t{part} + k * parts) * n + i); });
  });
  team.team_barrier();
  Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n),
                       [&](int i) { put(i, sum_in_order<4>(parts, [&](int part) { return values(part * n + i); })); });
}

/// Sums of `n` values over the lanes of a team, and over the teams of a league, through scratch memory: a reduction of
/// Kokkos over several values takes a loop of shuffles for each (backends/kokkos/findings). The order of additions
/// depends on the launch only.
template <int n>
class TeamSums {
  using Member = kokkos::Member;
  using Values = Kokkos::View<double*, kokkos::Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  /// Of scratch memory: more sums than these do not fit into level 0, with as many lanes as are worth a team.
  static constexpr int level = n <= 40 ? 0 : 1;
  static std::size_t bytes(int lanes) { return Values::shmem_size(static_cast<std::size_t>(size(lanes))); }

  KOKKOS_FORCEINLINE_FUNCTION TeamSums(const Member& team, int lanes)
      : team_(team), lanes_(lanes), values_(team.team_scratch(int{level}), static_cast<std::size_t>(size(lanes))) {}

  /// `share(lane, mine)` sets a lane's sums, mine[n]; `put(i, sum)` takes those of the team, each called by one lane.
  /// @pre the whole team calls
  template <class Share, class Put>
  KOKKOS_FORCEINLINE_FUNCTION void over_lanes(const Share& share, const Put& put) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, lanes_), [&](int lane) {
      double mine[n];
      share(lane, mine);
      for (int i = 0; i < n; ++i) values_(i * pitch() + lane) = mine[i];
    });
    add_up(lanes_, put);
  }
  /// The same over all teams: each leaves its sums in `partials` [teams x n], and the last one to arrive adds them.
  /// @pre `ticket` [1] is 0, and is reset to 0
  /// @returns whether this team was the last: its lanes see what `put` wrote after a barrier
  template <class Partials, class Ticket, class Share, class Put>
  KOKKOS_FORCEINLINE_FUNCTION bool over_league(const Partials& partials, const Ticket& ticket, const Share& share,
                                               const Put& put) const {
    const int teams = team_.league_size();
    const std::int64_t own = std::int64_t{team_.league_rank()} * n;
    over_lanes(share, [&](int i, double sum) {
      if (teams == 1)
        put(i, sum);
      else
        partials(own + i) = sum;
    });
    if (teams == 1) return true;
    if (!comes_last(team_, teams, ticket(0), values_(size(lanes_) - 1))) return false;
    const int parts = lanes_ > n ? lanes_ / n : 1;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, n * parts), [&](int item) {
      const int part = item / n, i = item - part * n;
      values_(i * pitch() + part) = sum_in_order<8>((teams - part + parts - 1) / parts, [&](int k) {
        return partials((std::int64_t{part} + k * parts) * n + i);
      });
    });
    add_up(parts, put);
    return true;
  }

 private:
  static constexpr int max_parts = 16;

  /// The lanes' sums, value by value; the parts of each value; whether the team comes last.
  KOKKOS_FORCEINLINE_FUNCTION static int size(int lanes) { return n * (lanes + 1 + max_parts) + 1; }
  /// Lanes of a subgroup read other banks.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int pitch() const { return lanes_ + 1; }

  /// Adds the first `count` of each value's lanes.
  template <class Put>
  KOKKOS_FORCEINLINE_FUNCTION void add_up(int count, const Put& put) const {
    const int parts = count < max_parts ? count : max_parts, of_parts = n * pitch();
    team_.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, n * parts), [&](int item) {
      const int part = item / n, i = item - part * n;
      values_(of_parts + item) = sum_in_order<4>((count - part + parts - 1) / parts,
                                                 [&](int k) { return values_(i * pitch() + part + k * parts); });
    });
    team_.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team_, n), [&](int i) {
      put(i, sum_in_order<4>(parts, [&](int part) { return values_(of_parts + part * n + i); }));
    });
  }

  const Member& team_;
  int lanes_;
  Values values_;
};

}  // namespace league::blocks
