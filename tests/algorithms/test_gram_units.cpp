// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "algorithms/blocks/gram_units.hpp"
#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/blocks/mma_host.hpp"
#include "tests/algorithms/simulated_unit.hpp"

// A team is simulated by host threads.
namespace league::blocks {
namespace {

using mma::Element, mma::side, tests::Simulated;

/// Columns of very different sizes and with offsets, whose products of floats are exact in double; and two vectors,
/// the first of them weights.
struct Data {
  Data(int columns, int rows, bool weighted) : x(static_cast<std::size_t>(columns)) {
    std::mt19937 random{7};
    std::normal_distribution<float> value;
    for (std::size_t j = 0; j < x.size(); ++j)
      for (int i = 0; i < rows; ++i)
        x[j].push_back(std::ldexp(value(random) + (j % 3 == 0 ? 1000.0F : 0.0F), static_cast<int>(j * 5 % 37) - 18));
    for (int i = 0; i < rows; ++i) {
      v[0].push_back(weighted ? std::abs(value(random)) / 4 : 1);
      v[1].push_back(value(random));
    }
  }
  std::vector<std::vector<double>> x;
  std::vector<double> v[2];
};

/// Each row by one lane of a column: subgroups of one part take steps in turn.
template <class Unit, int blocks, bool weighted, int part, int parts>
void add_part(const Data& data, const tests::SimulatedTeam& team, int rows, double* scratch) {
  using Units = GramUnits<Unit, blocks, 2, weighted, parts>;
  constexpr int step = mma::words;
  const int lane = team.rank % Unit::lanes, subgroup = team.rank / Unit::lanes;
  Units units;
  for (int first = subgroup / parts * step; first < rows; first += team.size / Unit::lanes / parts * step) {
    double x[blocks][Units::lane_columns][Units::deep], v[2][Units::deep];
    for (int row = 0; row < Units::deep; ++row) {
      const int at = first + Units::place(lane) * Units::deep + row;
      const auto of = [&](const std::vector<double>& from) {
        return at < rows ? from[static_cast<std::size_t>(at)] : 0.0;
      };
      for (int block = 0; block < blocks; ++block)
        for (int k = 0; k < Units::lane_columns; ++k)
          x[block][k][row] = of(data.x[static_cast<std::size_t>(block * side + Units::column(lane, k))]);
      for (int n = 0; n < 2; ++n) v[n][row] = of(data.v[n]);
    }
    units.template add<part>(x, v);
  }
  leave_in_turn(team, Unit::lanes, parts,
                [&](int, bool is_first) { units.template leave<part>(lane, is_first, scratch); });
}

template <class Unit, int blocks, bool weighted, int parts>
void expect_sums(int subgroups, int rows) {
  SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(parts) + " parts, " + std::to_string(subgroups) +
               " subgroups, " + std::to_string(rows) + " rows");
  using Units = GramUnits<Unit, blocks, 2, weighted, parts>;
  using Layout = typename Units::Layout;
  const Data data(blocks * side, rows, weighted);
  std::vector<double> scratch(Units::scratch_size, std::nan(""));
  tests::run_team<Unit>(subgroups, [&](const tests::SimulatedTeam& team) {
    if (team.rank / Unit::lanes % parts == 0)
      add_part<Unit, blocks, weighted, 0, parts>(data, team, rows, scratch.data());
    else
      add_part<Unit, blocks, weighted, parts - 1, parts>(data, team, rows, scratch.data());
  });
  const auto expect = [&](int at, const auto& term, int roundings) {
    long double sum = 0, sizes = 0;
    for (int i = 0; i < rows; ++i) {
      const long double value = term(static_cast<std::size_t>(i));
      sum += value, sizes += std::abs(value);
    }
    const auto bound = static_cast<double>(sizes) * (rows + roundings) * 0x1p-53;
    EXPECT_NEAR(Units::value(scratch.data(), at), static_cast<double>(sum), bound) << at;
  };
  for (int i = 0; i < Layout::columns; ++i) {
    const auto &x = data.x[static_cast<std::size_t>(i)], &w = data.v[0];
    for (int j = i; j < Layout::columns; ++j) {
      const auto& y = data.x[static_cast<std::size_t>(j)];
      expect(
          Layout::square(i, j), [&](std::size_t row) { return static_cast<long double>(w[row]) * x[row] * y[row]; },
          weighted ? 2 : 0);
    }
    for (int n = 0; n < 2; ++n)
      expect(
          Layout::product(n, i), [&](std::size_t row) { return static_cast<long double>(data.v[n][row]) * x[row]; }, 2);
  }
}

template <class Unit>
class GramOfUnits : public ::testing::Test {};
using AllUnits = ::testing::Types<mma::Scalar<Element::f64>, mma::Thread<Element::f64>,
                                  Simulated<mma::Warp<Element::f64>>, Simulated<mma::Wavefront<Element::f64>>>;
TYPED_TEST_SUITE(GramOfUnits, AllUnits);

TYPED_TEST(GramOfUnits, IsThatOfTheColumns) {
  for (const int rows : {1, 8, 53}) {
    expect_sums<TypeParam, 1, false, 1>(1, rows);
    expect_sums<TypeParam, 2, false, 1>(3, rows);
    expect_sums<TypeParam, 2, true, 1>(1, rows);
  }
}

TYPED_TEST(GramOfUnits, InPartsToo) {
  for (const int rows : {1, 37}) {
    expect_sums<TypeParam, 3, true, 2>(2, rows);
    expect_sums<TypeParam, 4, true, 2>(4, rows);
    expect_sums<TypeParam, 4, false, 1>(1, rows);
  }
}

TEST(GramLayout, HasAPlaceForEverySum) {
  using Layout = GramLayout<3, 2>;
  std::vector<int> taken(Layout::size);
  for (int i = 0; i < Layout::columns; ++i) {
    for (int j = i; j < Layout::columns; ++j) ++taken.at(static_cast<std::size_t>(Layout::square(i, j)));
    for (int n = 0; n < 2; ++n) ++taken.at(static_cast<std::size_t>(Layout::product(n, i)));
  }
  int lower = 0;  // values below the diagonal, in the units on it
  for (const int count : taken) {
    EXPECT_LE(count, 1);
    if (count == 0) ++lower;
  }
  EXPECT_EQ(lower, 3 * side * (side - 1) / 2);
  for (int number = 0, i = 0, j = 0; number < Layout::units; ++number, j + 1 < 3 ? ++j : j = ++i) {
    EXPECT_EQ(Layout::unit(i, j), number);
    EXPECT_EQ(Layout::row(number), i);
  }
}

}  // namespace
}  // namespace league::blocks
