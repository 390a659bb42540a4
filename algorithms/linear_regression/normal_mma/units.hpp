// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/gram_rows.hpp"
#include "algorithms/drivers/variant_shard.hpp"
#include "algorithms/linear_regression/common/gram_lanes.hpp"

/// What the method `normal_mma` does in CUDA and Kokkos alike: X^T X by a matrix unit for doubles, the columns' sums
/// and their products with the target by multiply-adds, all features in one pass.
namespace league::linear_regression {

/// Blocks of 16 features.
constexpr int unit_blocks(int features) { return (features + blocks::mma::side - 1) / blocks::mma::side; }

/// One row of a team's sums: G, and under it the sums of the columns and their products with the target; then the
/// target's own sum.
template <int blocks_>
struct UnitSums : blocks::GramLayout<blocks_, 2> {
  using Layout = blocks::GramLayout<blocks_, 2>;
  static constexpr int target = Layout::size, size = Layout::size + 1;
  /// Where the product of columns i and j >= i lies; column `features` is the constant, the next one the target.
  LEAGUE_FUNCTION static constexpr int at(int i, int j, int features) {
    if (i == features) return target;
    return j < features ? Layout::square(i, j) : Layout::product(j - features, i);
  }
};

/// A subgroup's run of rows, with the target.
template <class T, class Units>
struct UnitRows : blocks::GramRows<T, Units> {
  using Rows = blocks::GramRows<T, Units>;
  using Unit = typename Units::Unit;
  using Pack = typename Rows::Pack;
  static constexpr int deep = Rows::deep, of_lane = Rows::of_lane, packs = Rows::packs, steps = Rows::steps;
  Pack y[packs];

  /// A lane's columns; beyond the features the first one once more.
  struct Lane : Rows::Lane {
    const T* y;
    LEAGUE_FUNCTION Lane(const Columns<T>& data, int lane)
        : Rows::Lane([&](int j) { return data.x[j < data.features ? j : 0]; }, lane), y(data.y) {}
  };

  LEAGUE_FUNCTION void load(const Lane& lane, std::int64_t row) {
    Rows::load(lane, row);
    blocks::each<Unit, packs>([&](int pack) { y[pack] = reinterpret_cast<const Pack*>(lane.y + row)[pack]; });
  }
  LEAGUE_FUNCTION void load_some(const Lane& lane, std::int64_t row, std::int64_t count) {
    Rows::load_some(lane, row, count);
    blocks::each<Unit, of_lane>(
        [&](int i) { y[i / Pack::size].values[i % Pack::size] = i < count ? lane.y[row + i] : T{0}; });
  }
  /// Adds the run to all sums. `reload()` is called once its values are doubles in registers of their own.
  template <class Reload>
  LEAGUE_FUNCTION void add(Units& units, double& target, const Reload& reload) {
    typename Rows::Wide wide[steps];
    double v[steps][2][deep];
    this->widen(wide);
    blocks::each<Unit, of_lane>([&](int i) {
      v[i / deep][0][i % deep] = 1;  // a row that is not there has zeros
      v[i / deep][1][i % deep] = static_cast<double>(y[i / Pack::size].values[i % Pack::size]);
    });
    reload();
    blocks::each<Unit, steps>([&](int step) {
      blocks::each<Unit, deep>([&](int row) { target += v[step][1][row]; });
      units.add(wide[step], v[step]);
    });
  }
};

/// A team's sums over its rows go to its row of `partials` [teams x UnitSums::size]. `scratch`: unit_scratch doubles.
/// The next run is under way while one is used. @pre whole subgroups; all threads call
template <class T, class Unit, int blocks_, class Barrier>
LEAGUE_FUNCTION void add_unit_rows(const blocks::Group<Barrier>& team, const Columns<T>& data, std::int64_t rank,
                                   std::int64_t teams, double* scratch, double* partials) {
  using Units = blocks::GramUnits<Unit, blocks_, 2>;
  using Rows = UnitRows<T, Units>;
  using Sums = UnitSums<blocks_>;
  const int lane = team.rank % Unit::lanes, in_team = team.size / Unit::lanes;
  const std::int64_t subgroup = rank * in_team + team.rank / Unit::lanes, subgroups = teams * in_team;
  const std::int64_t whole = data.rows / Rows::rows;
  const blocks::Runs runs = blocks::runs_of<Unit>(whole, subgroup, subgroups);
  Units units;
  double target = 0;
  Rows mine;
  const typename Rows::Lane columns(data, lane);
  if (whole * Rows::rows < data.rows && subgroup + 1 == subgroups) {
    const std::int64_t first = Rows::first_row(lane, whole);
    mine.load_some(columns, first, data.rows - first);
    mine.add(units, target, [] {});
  }
  if (runs.begin < runs.end) mine.load(columns, Rows::first_row(lane, runs.begin));
  for (std::int64_t run = runs.begin; run < runs.end; run += runs.stride)
    mine.add(units, target, [&] {
      const std::int64_t next = run + runs.stride;
      mine.load(columns, Rows::first_row(lane, next < runs.end ? next : run));  // the last one once more
    });
  double* of_target = scratch + Units::scratch_size;  // [lanes that have different rows]
  blocks::leave_in_turn(team, Unit::lanes, 1, [&](int, bool is_first) {
    units.leave(lane, is_first, scratch);
    if (Units::column(lane, 0) != 0) return;
    double& to = of_target[Units::place(lane)];
    to = is_first ? target : to + target;
  });
  for (int i = team.rank; i < Sums::size; i += team.size) {
    double sum = 0;
    if (i < Sums::target)
      sum = Units::value(scratch, i);
    else
      for (int place = 0; place < Units::lanes_per_column; ++place) sum += of_target[place];
    partials[rank * Sums::size + i] = sum;
  }
}
template <class Unit, int blocks_>
inline constexpr int unit_scratch =
    blocks::GramUnits<Unit, blocks_, 2>::scratch_size + blocks::GramUnits<Unit, blocks_, 2>::lanes_per_column;

/// Pairs of columns, among them those whose products are not used.
LEAGUE_FUNCTION constexpr int column_pairs(int features) { return (features + 1) * (features + 2); }

/// Adds the product of pair `number` of columns over all teams, in their order.
template <int blocks_>
LEAGUE_FUNCTION void add_teams(const Gram& gram, int number, int teams, const double* partials, double* sums) {
  constexpr int together = 32;
  const int i = number / (gram.features + 2), j = number % (gram.features + 2);
  if (j < i || (j == i && i == gram.features)) return;
  const double* first = partials + UnitSums<blocks_>::at(i, j, gram.features);
  sums[gram.at(i, j)] = blocks::sum_in_order<together>(
      teams, [&](int team) { return first[std::int64_t{team} * UnitSums<blocks_>::size]; });
}

/// The widths of the kernels: calls `body.operator()<blocks>()`.
template <class Body>
auto with_unit_blocks(int features, const Body& body) {
  return unit_blocks(features) == 1 ? body.template operator()<1>() : body.template operator()<2>();
}
static_assert(unit_blocks(LinearRegression::max_features) == 2);

inline constexpr int max_unit_threads = 384;  // of a team

/// What the launch leaves open: the threads of a team, and those that the registers of a multiprocessor hold.
struct UnitThreads {
  int team, held;
};
/// Sums of up to 16 columns leave registers for a third more threads, in smaller teams. The sum over more teams takes
/// longer, so that it pays for many rows only.
inline UnitThreads unit_threads(int features, std::int64_t rows) {
  constexpr std::int64_t many = std::int64_t{1} << 23;
  return unit_blocks(features) == 1 && rows >= many ? UnitThreads{128, 512}
                                                    : UnitThreads{max_unit_threads, max_unit_threads};
}

/// The league that the launch leaves open, no larger than what the device holds.
inline int unit_league(const VariantShard& shard, Launch launch, UnitThreads threads) {
  return std::min(launch.league, std::max(1, multiprocessors(shard) * threads.held / (launch.team * launch.vector)));
}

/// @throws Unsupported for a team that is not whole subgroups
template <class Unit>
void require_subgroups(Launch launch) {
  const std::int64_t threads = std::int64_t{launch.team} * launch.vector;
  if (threads % Unit::lanes != 0)
    throw Unsupported("team size x vector length " + std::to_string(threads) + ": a matrix unit needs a multiple of " +
                      std::to_string(Unit::lanes));
}

}  // namespace league::linear_regression
