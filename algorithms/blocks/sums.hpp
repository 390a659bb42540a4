// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>

#include "algorithms/blocks/group.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "backends/backend.hpp"
#include "backends/portable.hpp"

namespace league::blocks {

/// Range `number` of `pieces` ranges of consecutive rows: on hosts, one per thread.
LEAGUE_FUNCTION Range piece(std::int64_t rows, std::int64_t number, std::int64_t pieces) {
  const std::int64_t size = (rows + pieces - 1) / pieces;
  const auto clamped = [rows](std::int64_t i) { return i < rows ? i : rows; };
  return {clamped(number * size), clamped((number + 1) * size)};
}

LEAGUE_FUNCTION Range piece(Range rows, std::int64_t number, std::int64_t pieces) {
  const Range piece = blocks::piece(rows.end - rows.begin, number, pieces);
  return {rows.begin + piece.begin, rows.begin + piece.end};
}

/// The last of `first`, `first + stride`, ... below `count`, of any number of rows. @pre first < count
LEAGUE_FUNCTION std::int64_t last_of(std::int64_t count, std::int64_t first, std::int64_t stride) {
  return first + (count - 1 - first) / stride * stride;
}

/// The rows of lane `lane`, every lanes-th of all. By a division: nvcc adds up a count of predicates again wherever it
/// is used, in a persistent kernel in every step. @pre fewer than 2^32 rows
LEAGUE_FUNCTION int own_rows(std::int64_t rows, std::int64_t lane, std::int64_t lanes) {
  if (lane >= rows) return 0;
  return static_cast<int>(static_cast<std::uint32_t>(rows - lane - 1) / static_cast<std::uint32_t>(lanes)) + 1;
}

/// Several sums reduced together, such as a gradient and a loss. Initially 0.
template <class T, int n>
struct Sums {
  static constexpr int size = n;
  T values[n] = {};
  LEAGUE_FUNCTION Sums& operator+=(const Sums& other) {
    for (int i = 0; i < n; ++i) values[i] += other.values[i];
    return *this;
  }
};

/// Up to this many sums, a thread keeps all of them in registers while it adds partials.
inline constexpr int few_sums = 8;

/// Parts of a sum that are added in T before they go into double.
inline constexpr int parts_together = 4;

/// Adds `count` sums that lie one after another, four at a time in T, these in order in double. The loads of four are
/// under way together.
template <int n, class T>
LEAGUE_FUNCTION Sums<double, n> ordered_sums(const T* values, int count) {
  const auto four = [&](int first, int i) {
    T parts[parts_together];
    unrolled<parts_together>([&](int k) { parts[k] = first + k < count ? values[(first + k) * n + i] : T{0}; });
    return static_cast<double>((parts[0] + parts[1]) + (parts[2] + parts[3]));
  };
  Sums<double, n> sums;
  unrolled<n>([&](int i) { sums.values[i] = four(0, i); });
  for (int first = parts_together; first < count; first += parts_together)
    unrolled<n>([&](int i) { sums.values[i] += four(first, i); });
  return sums;
}

/// `launch` with the team halved as long as its lanes are at least `rows` and a subgroup: lanes without a row only
/// lengthen the team's barriers and sums.
inline Launch without_idle_lanes(Launch launch, std::int64_t rows, int subgroup) {
  const std::int64_t enough = rows > subgroup ? rows : subgroup;
  while (launch.team % 2 == 0 && launch.team / 2 * std::int64_t{launch.vector} >= enough) launch.team /= 2;
  return launch;
}

/// For sums by shuffles over subgroups of `size` threads. @throws Unsupported if a team of `lanes` is not whole
/// subgroups
inline void require_whole_subgroups(std::int64_t lanes, int size) {
  if (lanes % size != 0)
    throw Unsupported("team size x vector length " + std::to_string(lanes) + ": these sums need a multiple of " +
                      std::to_string(size));
}

/// Scratch memory of `sums_for_all` in doubles, for teams of `size` threads.
template <int n>
constexpr int team_sums_size(int size) {
  return (n < few_sums ? n : few_sums) * (size + parts_together) + n * parts_together;
}

/// Adds over a team through its scratch memory; all threads get the sums. Up to eight values at a time, four threads
/// per value add every fourth of the team's, then every thread adds their four parts: two barriers for up to eight
/// values. The order of additions depends on the size of the team only. May be called again at once with the same
/// `scratch` [team_sums_size], in another type too. @pre all threads call
template <class T, int n, class Barrier>
LEAGUE_FUNCTION Sums<double, n> sums_for_all(const Group<Barrier>& team, const Sums<T, n>& mine, double* scratch) {
  constexpr int together = n < few_sums ? n : few_sums, loads = 16;
  const int pitch = team.size + parts_together;  // lanes of a subgroup read other banks
  T* of_parts = reinterpret_cast<T*>(scratch);   // slower threads may still read those of the last call
  T* of_threads = reinterpret_cast<T*>(scratch + n * parts_together);
  unrolled<(n + together - 1) / together>([&](int round) {
    const int first = round * together, count = n - first < together ? n - first : together;
    if (round > 0) team.barrier();
    unrolled<together>([&](int i) {
      if (i < count) of_threads[i * pitch + team.rank] = mine.values[first + i < n ? first + i : 0];
    });
    team.barrier();
    for (int item = team.rank; item < count * parts_together; item += team.size) {
      const int i = item / parts_together, part = item % parts_together;
      const T* of_value = of_threads + i * pitch;
      T sum = 0, next[loads];
      int rank = part;
      for (; rank + (loads - 1) * parts_together < team.size; rank += loads * parts_together) {
        unrolled<loads>([&](int k) { next[k] = of_value[rank + k * parts_together]; });
        sum += sum_in_pairs(next);
      }
      if (rank < team.size) {
        unrolled<loads>([&](int k) {
          const int other = rank + k * parts_together;
          next[k] = other < team.size ? of_value[other] : T{0};
        });
        sum += sum_in_pairs(next);
      }
      of_parts[part * n + first + i] = sum;
    }
  });
  team.barrier();
  return ordered_sums<n>(of_parts, parts_together);
}

}  // namespace league::blocks
