// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/streamed_rows.hpp"
#include "algorithms/blocks/sums.hpp"
#include "algorithms/polynomial_fit/common/moments.hpp"

/// How a lane of the native kernels walks over its points.
namespace league::polynomial_fit {

using blocks::piece, blocks::Sums;

template <class T>
LEAGUE_FUNCTION void flush(T (&from)[sums_per_step], Sums<double, sums_per_step>& to) {
  for (int i = 0; i < sums_per_step; ++i) to.values[i] += static_cast<double>(from[i]), from[i] = T{0};
}

/// Points that are added in T before they go into double.
inline constexpr int run = 16;

/// A GPU lane's share of the sums: every `lanes`-th point from `lane`, of all teams' lanes. Eight points are loaded
/// before they are added.
template <class T>
LEAGUE_FUNCTION Sums<double, sums_per_step> lane_sums(const Points<T>& points, const Cubic<T>& cubic, std::int64_t lane,
                                                      std::int64_t lanes) {
  Sums<double, sums_per_step> sums;
  T mine[sums_per_step] = {};
  int added = 0;
  constexpr int together = 8;
  static_assert(run % together == 0);
  std::int64_t i = lane;
  for (; i + (together - 1) * lanes < points.count; i += together * lanes) {
    T x[together], y[together];
    blocks::unrolled<together>([&](int k) { x[k] = points.x[i + k * lanes], y[k] = points.y[i + k * lanes]; });
    blocks::unrolled<together>([&](int k) { add_point(cubic, x[k], y[k], mine); });
    if ((added += together) % run == 0) flush(mine, sums);
  }
  for (; i < points.count; i += lanes) {
    add_point(cubic, points.x[i], points.y[i], mine);
    if (++added % run == 0) flush(mine, sums);
  }
  flush(mine, sums);
  return sums;
}

/// A host thread's share: consecutive points, as many at a time as a vector holds.
template <class T>
LEAGUE_FUNCTION Sums<double, sums_per_step> range_sums(const Points<T>& points, const Cubic<T>& cubic, Range range) {
  typedef T Vector __attribute__((vector_size(64)));
  constexpr int lanes = 64 / static_cast<int>(sizeof(T));
  double of_lanes[sums_per_step][lanes] = {};
  std::int64_t i = range.begin;
  while (i + lanes <= range.end) {
    Vector mine[sums_per_step] = {};
    for (int turn = 0; turn < run && i + lanes <= range.end; ++turn, i += lanes) {
      Vector x, y;
      __builtin_memcpy(&x, points.x + i, sizeof(Vector));
      __builtin_memcpy(&y, points.y + i, sizeof(Vector));
      add_point(cubic, x, y, mine);
    }
    T values[sums_per_step][lanes];
    __builtin_memcpy(values, mine, sizeof(values));
    for (int n = 0; n < sums_per_step; ++n)
      for (int lane = 0; lane < lanes; ++lane) of_lanes[n][lane] += static_cast<double>(values[n][lane]);
  }
  Sums<double, sums_per_step> sums;
  for (int n = 0; n < sums_per_step; ++n)
    for (const double sum : of_lanes[n]) sums.values[n] += sum;
  T mine[sums_per_step] = {};
  for (; i < range.end; ++i) add_point(cubic, points.x[i], points.y[i], mine);  // fewer than a vector
  flush(mine, sums);
  return sums;
}

/// The points of a persistent kernel: those of a lane and their powers stay in its registers. With more of them,
/// `resident` is 0 and they are read in each step. So few lanes may take 255 registers each: points, powers and sums
/// take more than 128.
inline constexpr int max_persistent_lanes = 256;
inline constexpr int max_resident = 16;
template <class T, int resident>
struct ResidentPoints {
  Powers<T> powers[resident];
  T y[resident];
  int count = 0;

  /// `keep(power)`: a native model's blocks::kept.
  template <class Keep>
  LEAGUE_FUNCTION void load(const Points<T>& points, std::int64_t lane, std::int64_t lanes, const Keep& keep) {
    std::int64_t i = lane;
    for (int k = 0; k < resident; ++k, i += lanes) {
      const bool mine = i < points.count;
      const auto of = Powers<T>::of(mine ? points.x[i] : T{0});
      powers[k] = {of.x, keep(of.square), keep(of.cube)};
      y[k] = mine ? points.y[i] : T{0};
    }
    count = blocks::own_rows(points.count, lane, lanes);
  }
  LEAGUE_FUNCTION Sums<T, sums_per_step> sums(const Cubic<T>& cubic) const {
    Sums<T, sums_per_step> sums;
    for (int k = 0; k < resident; ++k)  // beyond the last point zeros, without the constant: they add nothing
      add_point(cubic, k < count ? cubic.values[0] : T{0}, powers[k], y[k], sums.values);
    return sums;
  }
};
template <class T>
struct ResidentPoints<T, 0> {
  template <class Keep>
  LEAGUE_FUNCTION void load(const Points<T>&, std::int64_t, std::int64_t, const Keep&) {}
};
/// What a lane's sums of a step are added in: few points of its own in T, all others in double.
template <class T, int resident>
using LaneType = std::conditional_t<(resident > 0), T, double>;

/// Of a device's threads, the sums and the packs under way leave one in so many.
inline constexpr int moment_share = 4;

/// A GPU lane's share: every `lanes`-th pack from `lane`, of all teams' lanes.
template <class T>
LEAGUE_FUNCTION Sums<double, moment_sums> lane_powers(const Points<T>& points, std::int64_t lane, std::int64_t lanes) {
  Sums<double, moment_sums> sums;
  const auto load = [&]<class Pack>(int c, std::int64_t number) {
    return reinterpret_cast<const Pack*>(c == 0 ? points.x : points.y)[number];
  };
  const auto add = [&](const T(&point)[2]) {
    add_powers(static_cast<double>(point[0]), static_cast<double>(point[1]), sums.values);
  };
  blocks::stream_rows<T, 2, 16>(load, points.count, lane, lanes, add);
  return sums;
}

/// A host thread's share: consecutive points, as many at a time as a vector holds.
template <class T>
LEAGUE_FUNCTION Sums<double, moment_sums> range_powers(const Points<T>& points, Range range) {
  typedef double Vector __attribute__((vector_size(64)));
  constexpr int lanes = 8;
  Vector of_lanes[moment_sums] = {};
  std::int64_t i = range.begin;
  for (; i + lanes <= range.end; i += lanes) {
    Vector x, y;
    for (int k = 0; k < lanes; ++k)
      x[k] = static_cast<double>(points.x[i + k]), y[k] = static_cast<double>(points.y[i + k]);
    add_powers(x, y, of_lanes);
  }
  Sums<double, moment_sums> sums;
  for (; i < range.end; ++i)
    add_powers(static_cast<double>(points.x[i]), static_cast<double>(points.y[i]), sums.values);
  for (int n = 0; n < moment_sums; ++n)
    for (int k = 0; k < lanes; ++k) sums.values[n] += of_lanes[n][k];
  return sums;
}

}  // namespace league::polynomial_fit
