// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"

/// Sums of many values over a team and over the league, through the team's scratch: up to 66 values per thread are too
/// many for shuffles. The order of additions depends on the launch only.
namespace league::blocks {

inline constexpr int values_at_once = 8, segments = 32;

/// Doubles of scratch for `n` sums over `lanes` threads, `at_once` values in a round.
LEAGUE_FUNCTION constexpr int scratch_size(int n, int lanes, int at_once = values_at_once) {
  return at_once * (lanes + 2) + n * (segments + 1);
}

/// The fewest values in a round that need no more rounds for `n` sums: less scratch.
LEAGUE_FUNCTION constexpr int even_rounds(int n) {
  const int rounds = (n + values_at_once - 1) / values_at_once;
  return (n + rounds - 1) / rounds;
}

/// Adds `value(0)` ... `value(n - 1)` of all threads in double, over each of `groups` neighbouring parts of the team.
/// Calls `put(i, group, sum)`, always from the same thread. @pre all threads call; the team is a multiple of the groups
template <int n, int groups = 1, int at_once = values_at_once, class Barrier, class Value, class Put>
LEAGUE_FUNCTION void team_sums(const Group<Barrier>& team, const Value& value, double* scratch, const Put& put) {
  constexpr int segments_per_group = segments / groups;
  const int pitch = team.size + 2, lanes_per_group = team.size / groups;
  double* parts = scratch + at_once * pitch;
  unrolled<(n + at_once - 1) / at_once>([&](int round) {
    const int first = round * at_once;
    team.barrier();
    unrolled<at_once>([&](int k) {
      if (first + k < n) scratch[k * pitch + team.rank] = value(first + k < n ? first + k : 0);
    });
    team.barrier();
    for (int item = team.rank; item < at_once * segments; item += team.size) {
      const int k = item % at_once, segment = item / at_once, group = segment / segments_per_group;
      if (first + k >= n) continue;
      double sum = 0;
      for (int lane = segment % segments_per_group; lane < lanes_per_group; lane += segments_per_group)
        sum += scratch[k * pitch + group * lanes_per_group + lane];
      parts[(first + k) * (segments + 1) + segment] = sum;
    }
  });
  team.barrier();
  for (int item = team.rank; item < n * groups; item += team.size) {
    const int i = item / groups, group = item % groups;
    double sum = 0;
    for (int segment = 0; segment < segments_per_group; ++segment)
      sum += parts[i * (segments + 1) + group * segments_per_group + segment];
    put(i, group, sum);
  }
}

/// Adds `count` rows of `partials` [count x pitch], n values each, into `sums` [n]. @pre all threads of one team call
template <class Barrier>
LEAGUE_FUNCTION void add_partials(const Group<Barrier>& team, int n, std::int64_t count, std::int64_t pitch,
                                  const double* partials, double* scratch, double* sums) {
  constexpr int on_their_way = 16;
  const int fit = team.size / n, parts_per_sum = fit < 1 ? 1 : fit < segments ? fit : segments;
  double* parts = scratch + values_at_once * (team.size + 2);
  team.barrier();
  for (int item = team.rank; item < n * parts_per_sum; item += team.size) {
    const int i = item % n, part = item / n;
    double sum = 0;
    for (std::int64_t first = part; first < count; first += on_their_way * parts_per_sum) {
      double next[on_their_way];
      unrolled<on_their_way>([&](int k) {
        const std::int64_t row = first + k * parts_per_sum;
        next[k] = row < count ? partials[row * pitch + i] : 0.0;
      });
      unrolled<on_their_way>([&](int k) { sum += next[k]; });
    }
    parts[i * (segments + 1) + part] = sum;
  }
  team.barrier();
  for (int i = team.rank; i < n; i += team.size) {
    double sum = 0;
    for (int part = 0; part < parts_per_sum; ++part) sum += parts[i * (segments + 1) + part];
    sums[i] = sum;
  }
}

/// Two-level reduction: teams whose sums one of them adds. A single team that adds hundreds of rows is bound by memory
/// latency, longer than a step of a small solve.
inline constexpr int teams_per_group = 32;
LEAGUE_FUNCTION constexpr std::int64_t team_groups(std::int64_t teams) {
  return (teams + teams_per_group - 1) / teams_per_group;
}
/// Sizes of `partials` and of the tickets, for teams with n sums each.
constexpr std::int64_t partials_size(std::int64_t teams, int n) { return (teams + team_groups(teams)) * n; }
constexpr std::int64_t tickets_of(std::int64_t teams) { return 1 + team_groups(teams); }

/// Adds the rows of `partials` [teams + groups x pitch], one per team, n values, into `sums` [n], by tickets: the last
/// team of a group to arrive adds the group, the last of those adds the groups. `comes_last(ticket, count)`: whether
/// this team is the last of `count`, and so sees what they have written.
/// @returns whether this team has added the total. @pre all threads of all teams call
template <class Barrier, class ComesLast>
LEAGUE_FUNCTION bool add_league(const Group<Barrier>& team, int n, std::int64_t rank, std::int64_t teams, int pitch,
                                double* partials, unsigned* tickets, double* scratch, double* sums,
                                const ComesLast& comes_last) {
  const std::int64_t groups = team_groups(teams), group = rank / teams_per_group, first = group * teams_per_group;
  const std::int64_t count = first + teams_per_group < teams ? teams_per_group : teams - first;
  if (!comes_last(tickets + 1 + group, static_cast<unsigned>(count))) return false;
  double* of_groups = partials + teams * pitch;
  add_partials(team, n, count, pitch, partials + first * pitch, scratch,
               groups == 1 ? sums : of_groups + group * pitch);
  if (groups > 1) {
    if (!comes_last(tickets, static_cast<unsigned>(groups))) return false;
    add_partials(team, n, groups, pitch, of_groups, scratch, sums);
  }
  team.barrier();
  return true;
}

}  // namespace league::blocks
