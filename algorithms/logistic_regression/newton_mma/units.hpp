// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/gram_rows.hpp"
#include "algorithms/logistic_regression/common/newton_step.hpp"
#include "algorithms/logistic_regression/common/pack_rows.hpp"

/// The method `newton_mma`, the same in CUDA and Kokkos: the Hessian X^T diag(w) X by the f64 matrix unit, the gradient
/// and the intercept's row of the Hessian by FMAs on the same registers. A subgroup takes runs of rows from memory to
/// registers, without scratch and without barriers.
namespace league::logistic {

constexpr int unit_blocks(int features) { return (features + blocks::mma::side - 1) / blocks::mma::side; }

/// `parts` subgroups share a run of rows: ten units exceed the registers of one.
template <class Unit, int blocks_>
inline constexpr int unit_parts = Unit::lanes > 1 && blocks_ > 2 ? 2 : 1;

/// What a subgroup does with its runs of rows. `row_lanes` lanes hold a row's columns; its logit is summed over them,
/// its terms are computed by one of them.
template <class T, class Unit, int blocks_>
struct NewtonRuns {
  static constexpr int parts = unit_parts<Unit, blocks_>, totals = 3;  ///< loss, sum of residuals, sum of weights
  using Units = blocks::GramUnits<Unit, blocks_, 2, true, parts>;
  using Rows = blocks::GramRows<T, Units>;
  static constexpr int of_lane = Rows::of_lane, deep = Rows::deep, steps = Rows::steps, columns = Rows::columns;
  /// Rows whose terms a lane computes.
  static constexpr int own_rows = of_lane > Units::row_lanes ? of_lane / Units::row_lanes : 1;

  T intercept, theta[blocks_][columns];
  int lane, own;  ///< own: the first of this lane's own rows, the others are `row_lanes` apart
  bool counts;    ///< no lane before this one has the same own rows
  Units units;
  double sums[totals] = {};

  LEAGUE_FUNCTION NewtonRuns(const double* all, int features, int lane_)
      : intercept(static_cast<T>(all[0])),
        lane(lane_),
        own(Units::of_row(lane) % of_lane),
        counts(Units::of_row(lane) < of_lane) {
    blocks::each<Unit, blocks_>([&](int block) {
      blocks::each<Unit, columns>([&](int k) {
        const int j = block * blocks::mma::side + Units::column(lane, k);
        theta[block][k] = j < features ? static_cast<T>(all[1 + j]) : T{0};
      });
    });
  }

  struct Run {
    Rows x;
    T label[own_rows];
    std::int64_t left;  ///< rows from this lane's first one on
  };
  LEAGUE_FUNCTION void load(Run& run, const typename Rows::Lane& lanes, const std::uint8_t* labels, std::int64_t row,
                            std::int64_t count) const {
    run.left = count - row;
    for (int k = 0; k < own_rows; ++k) {
      const int i = own + k * Units::row_lanes;
      run.label[k] = i < run.left ? static_cast<T>(labels[row + i]) : T{0};
    }
    if (row + of_lane <= count)
      run.x.load(lanes, row);
    else
      run.x.load_some(lanes, row, run.left);
  }

  /// Adds the run to the sums of a part of the units. `reload()` is called once its values are in registers of their
  /// own.
  template <int part, class Reload>
  LEAGUE_FUNCTION void add(const Run& run, const Reload& reload) {
    T z[of_lane];
    blocks::each<Unit, of_lane>([&](int i) { z[i] = logit(run.x, i); });
    RowTerms<T> mine[own_rows];
    blocks::each<Unit, own_rows>([&](int k) {
      T own_z = z[Unit::lanes == 1 ? k : 0];
      if constexpr (Unit::lanes > 1)
        blocks::each<Unit, of_lane>([&](int i) { own_z = own + k * Units::row_lanes == i ? z[i] : own_z; });
      const RowTerms<T> found = row_terms(own_z, run.label[k]);
      mine[k] = own + k * Units::row_lanes < run.left ? found : RowTerms<T>{};
      if (part != 0 || !counts) return;
      sums[0] += static_cast<double>(mine[k].loss);
      sums[1] += static_cast<double>(mine[k].residual);
      sums[2] += static_cast<double>(mine[k].weight);
    });
    double v[steps][2][deep];
    blocks::each<Unit, of_lane>([&](int i) {
      const RowTerms<T>& terms = mine[i / Units::row_lanes];
      const int from = Units::with_row(lane, i % Units::row_lanes);
      v[i / deep][0][i % deep] = static_cast<double>(Unit::shuffle(terms.weight, from));
      v[i / deep][1][i % deep] = static_cast<double>(Unit::shuffle(terms.residual, from));
    });
    typename Rows::Wide wide[steps];
    run.x.template widen<Units::first_block(part)>(wide);
    reload();
    blocks::each<Unit, steps>([&](int step) { units.template add<part>(wide[step], v[step]); });
  }

 private:
  [[nodiscard]] LEAGUE_FUNCTION T logit(const Rows& x, int row) const {
    T sum = 0;
    blocks::each<Unit, blocks_>(
        [&](int block) { blocks::each<Unit, columns>([&](int k) { sum += theta[block][k] * x.at(block, k, row); }); });
    return intercept + Units::add_over_row(sum, lane);
  }
};

/// Index of sum `number` of a Newton step in a team's layout; the loss and the row totals follow after the layout.
template <class Layout>
LEAGUE_FUNCTION int unit_place(int number, int features) {
  if (number <= 1) return Layout::size + number;
  if (number < gradient_sums(features)) return Layout::product(1, number - 2);
  int i = 0;
  while (triangle(i + 1) <= number - gradient_sums(features)) ++i;
  const int j = number - gradient_sums(features) - triangle(i);
  if (i == 0) return Layout::size + 2;
  return j == 0 ? Layout::product(0, i - 1) : Layout::square(j - 1, i - 1);
}

/// Scratch of a team: its sums.
template <class T, class Unit, int blocks_>
constexpr int unit_scratch_bytes(int threads) {
  using Runs = NewtonRuns<T, Unit, blocks_>;
  const int units = Runs::Units::scratch_size, more = scratch_size(Runs::totals, threads);
  return (units > more ? units : more) * static_cast<int>(sizeof(double));
}

/// A team's sums over its runs of rows go to `partials` [sums x teams]. The next run is loaded while one is used.
/// `scratch`: unit_scratch_bytes. @pre whole subgroups, a multiple of `unit_parts` of them; all threads call
template <class T, class Unit, int blocks_, class Barrier>
LEAGUE_FUNCTION void add_newton_runs(const Group<Barrier>& team, const Rows<T>& rows, const double* theta,
                                     std::int64_t rank, std::int64_t teams, double* scratch, double* partials) {
  using Work = NewtonRuns<T, Unit, blocks_>;
  using Data = typename Work::Rows;
  using Layout = typename Work::Units::Layout;
  constexpr int parts = Work::parts;
  const int lane = team.rank % Unit::lanes, subgroup = team.rank / Unit::lanes,
            sharing = team.size / Unit::lanes / parts;
  const auto of_part = [&](const auto& body) {
    if (parts == 1 || subgroup % 2 == 0)
      body.template operator()<0>();
    else
      body.template operator()<parts - 1>();
  };
  Work work(theta, rows.features, lane);
  const blocks::Runs runs = blocks::runs_of<Unit>((rows.count + Data::rows - 1) / Data::rows,
                                                  rank * sharing + subgroup / parts, teams * sharing);
  const typename Data::Lane columns([&](int j) { return rows.columns + (j < rows.features ? j : 0) * rows.pitch; },
                                    lane);
  typename Work::Run mine;
  const auto load = [&](std::int64_t run) {
    if (run < runs.end) work.load(mine, columns, rows.labels, Data::first_row(lane, run), rows.count);
  };
  load(runs.begin);
  of_part([&]<int part>() {
    for (std::int64_t run = runs.begin; run < runs.end; run += runs.stride)
      work.template add<part>(mine, [&] { load(run + runs.stride); });
  });
  blocks::leave_in_turn(team, Unit::lanes, parts, [&](int, bool is_first) {
    of_part([&]<int part>() { work.units.template leave<part>(lane, is_first, scratch); });
  });
  const int n = newton_sums(rows.features);
  for (int i = team.rank; i < n; i += team.size) {
    const int place = unit_place<Layout>(i, rows.features);
    if (place < Layout::size) partials[i * teams + rank] = Work::Units::value(scratch, place);
  }
  team.barrier();
  team_sums<Work::totals>(
      team, [&](int i) { return work.sums[i]; }, scratch,
      [&](int i, int, double sum) { partials[(i < 2 ? i : gradient_sums(rows.features)) * teams + rank] = sum; });
}

/// Calls `body.template operator()<blocks>()`.
template <class Body>
auto with_unit_blocks(int features, const Body& body) {
  static_assert(unit_blocks(LogisticRegression::max_features) == 4);
  const int blocks = unit_blocks(features);
  if (blocks == 1) return body.template operator()<1>();
  if (blocks == 2) return body.template operator()<2>();
  return blocks == 3 ? body.template operator()<3>() : body.template operator()<4>();
}

/// Resident teams per multiprocessor.
inline constexpr int unit_teams = 2;
/// The default team: of more threads where rows have one block of features, little work each, and are many.
template <int blocks_>
constexpr int unit_team(std::int64_t rows) {
  return blocks_ == 1 && rows >= 1 << 18 ? 256 : 128;
}

/// Rows that a team takes at once. @throws Unsupported for a team size that is not a multiple of `parts` subgroups
template <class T, class Unit, int blocks_>
int unit_rows(int threads) {
  constexpr int granule = Unit::lanes * unit_parts<Unit, blocks_>;
  if (threads % granule != 0)
    throw Unsupported("a team of " + std::to_string(threads) + ": these matrix units need a multiple of " +
                      std::to_string(granule));
  return threads / granule * NewtonRuns<T, Unit, blocks_>::Rows::rows;
}

}  // namespace league::logistic
