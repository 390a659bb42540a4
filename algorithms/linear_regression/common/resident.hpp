// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/league_barrier.hpp"
#include "algorithms/linear_regression/common/lanes.hpp"

/// The rows of a persistent kernel: one launch takes all steps.
namespace league::linear_regression {

/// Maximum lanes of a team, and those of a small one.
inline constexpr int max_persistent_lanes = 256, few_persistent_lanes = 128;
/// Teams of the largest size per multiprocessor, by register use: two for up to 4 features, whose rows are read in each
/// step.
template <int width>
inline constexpr int persistent_teams = width == 4 ? 2 : 1;
/// All teams wait for each other in every step. Rows per team of few lanes that are worth another team per
/// multiprocessor, and the most teams for fewer than half as many each.
template <int width>
inline constexpr int rows_of_team = width <= 4    ? 8192
                                    : width <= 12 ? 2048
                                                  : 1024;
template <int width>
inline constexpr int few_teams = width <= 4    ? 64
                                 : width <= 12 ? 32
                                               : 16;

/// Default lanes of a team: few, but for rows of several features that one team takes at once, and for many rows of up
/// to 4. `kept`: rows of one feature stay in registers.
template <int width, bool kept>
int persistent_lanes(std::int64_t rows) {
  if (kept) return few_persistent_lanes;
  const bool of_one_team = rows > few_persistent_lanes && rows <= max_persistent_lanes;
  const bool many = width <= 4 && rows > std::int64_t{128} * rows_of_team<width>;
  return of_one_team || many ? max_persistent_lanes : few_persistent_lanes;
}
/// The league of an automatic launch; `held`: teams that are on the device at once. A team of more than few lanes is
/// worth four times the rows.
template <int width, bool kept>
int automatic_league(std::int64_t rows, Launch launch, int held, int multiprocessors) {
  constexpr std::int64_t rows_of_few = 256, least = 8;
  const int most = std::min(launch.league, held), lanes = launch.team * launch.vector;
  if (kept) return most;
  if (rows <= std::int64_t{few_teams<width>} * rows_of_team<width> / 2)
    return std::min({most, few_teams<width>, static_cast<int>(std::max(least, ceil_div(rows, rows_of_few)))});
  const std::int64_t of_each = std::int64_t{rows_of_team<width>} * (lanes > few_persistent_lanes ? 4 : 1);
  const int resident = std::max(1, multiprocessors * persistent_teams<width> * max_persistent_lanes / lanes);
  return blocks::waiting_league(rows, of_each, multiprocessors, std::min(most, resident));
}
/// Maximum rows of one feature that a lane keeps in its registers; with more features or rows, `resident` is 0 and
/// they are read in each step.
template <class T>
inline constexpr int max_resident = 128 / static_cast<int>(sizeof(T));

/// A lane's rows, every lanes-th of all from its own; where there are fewer, zeros, which without the bias add nothing.
/// (With a branch around a row, rows wait for each other: 35 cycles each in place of 6.)
template <class T, int resident>
struct ResidentRows {
  T x[resident], y[resident];
  int count = 0;

  LEAGUE_FUNCTION void load(const Columns<T>& data, Place place) {
    const std::int64_t stride = place.stride();
    std::int64_t row = place.first();
    for (int k = 0; k < resident; ++k, row += stride) {
      const bool mine = row < data.rows;
      x[k] = mine ? data.x[0][row] : T{0};
      y[k] = mine ? data.y[row] : T{0};
    }
    count = blocks::own_rows(data.rows, place.first(), stride);
  }
  LEAGUE_FUNCTION Sums<T, terms<1>> sums(const Line<T, 1>& line) const {
    Sums<T, terms<1>> sums;
    for (int k = 0; k < resident; ++k) {
      const T error = line.weights[0] * x[k] - y[k] + (k < count ? line.bias : T{0});
      sums.values[0] += error * x[k];
      sums.values[1] += error;
      sums.values[2] += error * error;
    }
    return sums;
  }
};
template <class T>
struct ResidentRows<T, 0> {
  LEAGUE_FUNCTION void load(const Columns<T>&, Place) {}
};

/// What a lane's sums of a step are added in: few rows of its own in T, all others in double.
template <class T, int resident>
using LaneType = std::conditional_t<(resident > 0), T, double>;

}  // namespace league::linear_regression
