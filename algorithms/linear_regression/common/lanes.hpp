// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pack.hpp"
#include "algorithms/blocks/sums.hpp"
#include "algorithms/linear_regression/common/rows.hpp"

/// How a lane of the native kernels walks over its rows.
namespace league::linear_regression {

using blocks::piece, blocks::Sums;

/// Moves what was added in T into double.
template <class T, int n>
LEAGUE_FUNCTION void flush(const T (&from)[n], Sums<double, n>& to) {
  for (int i = 0; i < n; ++i) to.values[i] += static_cast<double>(from[i]);
}

/// One access of a GPU's lane, and how many of each column are in flight together: what registers hold.
template <int width>
inline constexpr int pack_bytes = width <= 12 ? 16 : 8;
template <int width>
inline constexpr int at_once = width == 1   ? 4
                               : width <= 4 ? 2
                                            : 1;
/// Maximum lanes of a team, and teams of that size per multiprocessor: what registers allow.
template <int width>
inline constexpr int max_lanes = width <= 12 ? 512 : 256;
template <int width>
inline constexpr int teams_at_once = width == 1 ? 2 : 1;
/// Of a device's threads, what these leave: one in so many.
template <int width>
inline constexpr int device_share = 2048 / (max_lanes<width> * teams_at_once<width>);

/// Packs `first`, `first + stride`, ... of all columns: all loads first.
template <class T, int width, int count>
LEAGUE_FUNCTION void add_packs(const Columns<T>& data, const Line<T, width>& line, std::int64_t first,
                               std::int64_t stride, Sums<double, terms<width>>& sums) {
  using Pack = blocks::Pack<T, pack_bytes<width>>;
  Pack x[count][width] = {}, y[count];
  for (int k = 0; k < count; ++k) {
    for (int f = 0; f < width; ++f)
      if (width == 1 || f < data.features) x[k][f] = reinterpret_cast<const Pack*>(data.x[f])[first + k * stride];
    y[k] = reinterpret_cast<const Pack*>(data.y)[first + k * stride];
  }
  T mine[terms<width>] = {};
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < Pack::size; ++i) {
      T row[width];
      for (int f = 0; f < width; ++f) row[f] = x[k][f].values[i];
      add_row(line, row, y[k].values[i], mine);
    }
  flush(mine, sums);
}

/// Row by row, every `stride`-th from `first`.
template <class T, int width>
LEAGUE_FUNCTION void add_single_rows(const Columns<T>& data, const Line<T, width>& line, std::int64_t first,
                                     std::int64_t end, std::int64_t stride, Sums<double, terms<width>>& sums) {
  for (std::int64_t i = first; i < end; i += stride) {
    T x[width], mine[terms<width>] = {};
    for (int f = 0; f < width; ++f) x[f] = width == 1 || f < data.features ? data.x[f][i] : T{0};
    add_row(line, x, data.y[i], mine);
    flush(mine, sums);
  }
}

/// Position of a lane: in its team, and its team in the league.
struct Place {
  std::int64_t team, teams;
  int lane, lanes;
  /// Number of the lane in the league, and lanes of the league.
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t first() const { return team * lanes + lane; }
  [[nodiscard]] LEAGUE_FUNCTION std::int64_t stride() const { return teams * lanes; }
};

/// Rows of a pack.
template <class T, int width>
inline constexpr int pack_rows = pack_bytes<width> / static_cast<int>(sizeof(T));

/// Whether a step takes a team's runs of rows from the last to the first: every other one does, and finds in the caches
/// what the step before has read last.
LEAGUE_FUNCTION bool is_backward(std::int64_t step) { return step % 2 != 0; }

/// A GPU lane's share of `packs` packs from `begin` on: its team takes runs of lanes x at_once packs while there are
/// enough for all teams, then single packs.
template <class T, int width>
LEAGUE_FUNCTION void add_own_packs(const Columns<T>& data, const Line<T, width>& line, Place place, bool backward,
                                   std::int64_t begin, std::int64_t packs, Sums<double, terms<width>>& sums) {
  constexpr int count = at_once<width>;
  const std::int64_t run = std::int64_t{place.lanes} * count;
  const std::int64_t runs = packs >= run * ((place.teams + 1) / 2) ? packs / run : 0;
  std::int64_t at = place.team, by = place.teams;
  if (backward && runs > by) {
    at = blocks::last_of(runs, at, by);
    by = -by;
  }
  for (; at >= 0 && at < runs; at += by)
    add_packs<T, width, count>(data, line, begin + at * run + place.lane, place.lanes, sums);
  for (std::int64_t i = runs * run + place.first(); i < packs; i += place.stride())
    add_packs<T, width, 1>(data, line, begin + i, 0, sums);
}

/// A GPU lane's share of the sums of step `step`: of whole packs, then of what is left of a pack.
template <class T, int width>
LEAGUE_FUNCTION Sums<double, terms<width>> lane_sums(const Columns<T>& data, const Line<T, width>& line, Place place,
                                                     std::int64_t step) {
  const std::int64_t packs = data.rows / pack_rows<T, width>;
  Sums<double, terms<width>> sums;
  add_own_packs(data, line, place, is_backward(step), 0, packs, sums);
  add_single_rows(data, line, packs * pack_rows<T, width> + place.first(), data.rows, place.stride(), sums);
  return sums;
}
/// The same of `rows`, which may begin within a pack.
template <class T, int width>
LEAGUE_FUNCTION Sums<double, terms<width>> lane_sums(const Columns<T>& data, const Line<T, width>& line, Place place,
                                                     std::int64_t step, Range rows) {
  constexpr int size = pack_rows<T, width>;
  const std::int64_t begin = (rows.begin + size - 1) / size, end = rows.end / size;
  Sums<double, terms<width>> sums;
  if (begin >= end) {
    add_single_rows(data, line, rows.begin + place.first(), rows.end, place.stride(), sums);
    return sums;
  }
  add_own_packs(data, line, place, is_backward(step), begin, end - begin, sums);
  add_single_rows(data, line, rows.begin + place.first(), begin * size, place.stride(), sums);
  add_single_rows(data, line, end * size + place.first(), rows.end, place.stride(), sums);
  return sums;
}

/// A host thread's share: consecutive rows, as many at a time as a vector holds.
template <class T, int width>
LEAGUE_FUNCTION Sums<double, terms<width>> range_sums(const Columns<T>& data, const Line<T, width>& line, Range rows) {
  typedef T Vector __attribute__((vector_size(64)));
  constexpr int lanes = 64 / static_cast<int>(sizeof(T)), run = 16;  // vectors added before they go into double
  double of_lanes[terms<width>][lanes] = {};
  std::int64_t i = rows.begin;
  while (i + lanes <= rows.end) {
    Vector mine[terms<width>] = {};
    for (int turn = 0; turn < run && i + lanes <= rows.end; ++turn, i += lanes) {
      Vector x[width] = {}, y;
      for (int f = 0; f < width; ++f)
        if (width == 1 || f < data.features) __builtin_memcpy(&x[f], data.x[f] + i, sizeof(Vector));
      __builtin_memcpy(&y, data.y + i, sizeof(Vector));
      add_row(line, x, y, mine);
    }
    T values[terms<width>][lanes];
    __builtin_memcpy(values, mine, sizeof(values));
    for (int n = 0; n < terms<width>; ++n)
      for (int lane = 0; lane < lanes; ++lane) of_lanes[n][lane] += static_cast<double>(values[n][lane]);
  }
  Sums<double, terms<width>> sums;
  for (int n = 0; n < terms<width>; ++n)
    for (const double sum : of_lanes[n]) sums.values[n] += sum;
  add_single_rows(data, line, i, rows.end, 1, sums);
  return sums;
}

/// A lane's sums over all segments: each team takes rows of one, or of several one after another. The gradient's are
/// scaled, the loss's is not. `sums_of(rows, place)`: of some rows, by the teams that take them.
template <int width, class SumsOf>
LEAGUE_FUNCTION Sums<double, terms<width>> segment_sums(const Rule& rule, std::int64_t rows, Place place,
                                                        const SumsOf& sums_of) {
  const std::int64_t segments = rule.segments;
  Sums<double, terms<width>> all;
  for (std::int64_t k = place.team % segments; k < segments; k += place.teams) {
    const std::int64_t teams = (place.teams - k + segments - 1) / segments;  // 0 where the team has more segments
    const auto sums = sums_of(segment_of(rows, k, segments),
                              Place{place.team / segments, teams > 0 ? teams : 1, place.lane, place.lanes});
    for (int i = 0; i <= width; ++i) all.values[i] += rule.scale[k] * sums.values[i];
    all.values[width + 1] += sums.values[width + 1];
  }
  return all;
}

}  // namespace league::linear_regression
