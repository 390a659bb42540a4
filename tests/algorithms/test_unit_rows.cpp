// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/linear_regression/normal_mma/units.hpp"
#include "algorithms/logistic_regression/newton_mma/units.hpp"
#include "tests/algorithms/simulated_unit.hpp"

// The sums of GPU teams by matrix units, for the normal equations and for a Newton step, on the host.
namespace league {
namespace {

using blocks::mma::Element;
using Warp = tests::Simulated<blocks::mma::Warp<Element::f64>>;
using Wavefront = tests::Simulated<blocks::mma::Wavefront<Element::f64>>;

/// Columns of normal values, 16-byte aligned; NaN after the last row.
template <class T>
struct Table {
  using Pack = blocks::Pack<T, 16>;
  Table(int columns, std::int64_t rows)
      : pitch((rows + 3) / 4 * 4), packs(static_cast<std::size_t>(columns * pitch / Pack::size)) {
    std::mt19937 random{3};
    std::normal_distribution<T> value;
    for (int j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < pitch; ++i)
        column(j)[i] = i < rows ? value(random) + static_cast<T>(j % 3) : static_cast<T>(NAN);
  }
  T* column(int j) { return packs.front().values + j * pitch; }

  std::int64_t pitch;
  std::vector<Pack> packs;
};

/// Whether `found` is the sum of `term(row)`, within `unit` of the sum of the magnitudes.
template <class Term>
void expect_sum(double found, std::int64_t rows, double unit, const Term& term) {
  long double sum = 0, sizes = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const long double value = term(i);
    sum += value, sizes += std::abs(value);
  }
  EXPECT_NEAR(found, static_cast<double>(sum), static_cast<double>(sizes) * unit);
}

template <class Unit, int blocks_, class T>
void expect_normal(int features, std::int64_t rows, int subgroups, int teams) {
  SCOPED_TRACE(std::to_string(features) + " features, " + std::to_string(rows) + " rows");
  namespace regression = linear_regression;
  using Sums = regression::UnitSums<blocks_>;
  Table<T> table(features + 1, rows);
  regression::Columns<T> data{.y = table.column(features), .rows = rows, .features = features};
  for (int j = 0; j < features; ++j) data.x[j] = table.column(j);
  std::vector<double> partials(static_cast<std::size_t>(teams * Sums::size), NAN);
  std::vector<double> scratch(regression::unit_scratch<Unit, blocks_>);
  for (int rank = 0; rank < teams; ++rank)
    tests::run_team<Unit>(subgroups, [&](const tests::SimulatedTeam& team) {
      regression::add_unit_rows<T, Unit, blocks_>(team, data, rank, teams, scratch.data(), partials.data());
    });
  const regression::Gram gram(features);
  std::vector<double> sums(static_cast<std::size_t>(gram.sums()), NAN);
  for (int pair = 0; pair < regression::column_pairs(features); ++pair)
    regression::add_teams<blocks_>(gram, pair, teams, partials.data(), sums.data());
  const auto value = [&](int j, std::int64_t i) {
    return static_cast<long double>(j == features ? 1 : table.column(j > features ? features : j)[i]);
  };
  for (int i = 0; i <= features; ++i)
    for (int j = i; j < features + 2; ++j)
      if (i < features || j > features)
        expect_sum(sums[static_cast<std::size_t>(gram.at(i, j))], rows, static_cast<double>(rows + 2) * 0x1p-53,
                   [&](std::int64_t row) { return value(i, row) * value(j, row); });
}

TEST(UnitRows, AddTheNormalEquations) {
  expect_normal<Warp, 1, float>(11, 1, 1, 1);
  expect_normal<Warp, 1, float>(16, 39, 2, 1);
  expect_normal<Warp, 2, float>(17, 16, 1, 2);
  expect_normal<Warp, 2, float>(32, 203, 2, 2);
  expect_normal<Warp, 2, double>(32, 59, 3, 2);
  expect_normal<Wavefront, 2, float>(31, 101, 2, 1);
  expect_normal<Wavefront, 1, double>(3, 30, 1, 2);
}

template <class Unit, int blocks_, class T>
void expect_newton(int features, std::int64_t rows, int subgroups, int teams) {
  SCOPED_TRACE(std::to_string(features) + " features, " + std::to_string(rows) + " rows");
  Table<T> table(features, rows);
  std::vector<blocks::Pack<std::uint8_t, 16>> labels(static_cast<std::size_t>(table.pitch / 16 + 1));
  std::uint8_t* label = labels.front().values;
  for (std::int64_t i = 0; i < table.pitch; ++i) label[i] = i < rows ? static_cast<std::uint8_t>(i * 7 % 5 % 2) : 255;
  std::vector<double> theta;
  for (int j = 0; j <= features; ++j) theta.push_back((j % 7 - 3) / 16.0);
  const int n = logistic::newton_sums(features), threads = subgroups * Unit::lanes;
  std::vector<double> partials(static_cast<std::size_t>(n * teams), NAN);
  std::vector<double> scratch(logistic::unit_scratch_bytes<T, Unit, blocks_>(threads) / sizeof(double), NAN);
  for (int rank = 0; rank < teams; ++rank)
    tests::run_team<Unit>(subgroups, [&](const tests::SimulatedTeam& team) {
      logistic::add_newton_runs<T, Unit, blocks_>(
          team, logistic::Rows<T>{table.column(0), label, rows, table.pitch, features}, theta.data(), rank, teams,
          scratch.data(), partials.data());
    });
  const auto sum = [&](int i) {
    double all = 0;
    for (int rank = 0; rank < teams; ++rank) all += partials[static_cast<std::size_t>(i * teams + rank)];
    return all;
  };
  const auto value = [&](int j, std::int64_t i) { return j == 0 ? 1.0 : static_cast<double>(table.column(j - 1)[i]); };
  std::vector<logistic::RowTerms<double>> terms;
  for (std::int64_t i = 0; i < rows; ++i) {
    double z = 0;
    for (int j = 0; j <= features; ++j) z += theta[static_cast<std::size_t>(j)] * value(j, i);
    terms.push_back(logistic::row_terms(z, static_cast<double>(label[i])));
  }
  const double unit = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());  // mainly of a logit
  const auto term = [&](std::int64_t i) { return terms[static_cast<std::size_t>(i)]; };
  expect_sum(sum(0), rows, unit, [&](std::int64_t i) { return term(i).loss; });
  for (int i = 0; i <= features; ++i) {
    expect_sum(sum(1 + i), rows, unit, [&](std::int64_t row) { return term(row).residual * value(i, row); });
    for (int j = 0; j <= i; ++j)
      expect_sum(sum(logistic::gradient_sums(features) + logistic::triangle(i) + j), rows, unit,
                 [&](std::int64_t row) { return term(row).weight * value(i, row) * value(j, row); });
  }
}

TEST(UnitRows, AddANewtonStep) {
  expect_newton<Warp, 1, float>(9, 1, 1, 1);
  expect_newton<Warp, 2, float>(31, 139, 2, 2);
  expect_newton<Warp, 3, float>(33, 50, 2, 1);
  expect_newton<Warp, 4, float>(64, 171, 4, 2);
  expect_newton<Warp, 1, float>(12, 205, 3, 1);
  expect_newton<Warp, 4, double>(49, 75, 4, 1);
  expect_newton<Wavefront, 4, float>(64, 37, 2, 1);
  expect_newton<Wavefront, 2, double>(20, 51, 1, 2);
}

}  // namespace
}  // namespace league
