// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "algorithms/blocks/gram_units.hpp"
#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/blocks/mma_host.hpp"

// Threads of the host stand for those of a team. Units of a GPU are played: a product is made of the words of all
// lanes, by the places that the unit gives them.
namespace league::blocks {
namespace {

using mma::Element, mma::side, mma::words;

/// The two operands of the subgroup that this thread is a lane of.
struct Operands {
  explicit Operands(int lanes) : all(lanes) {}
  std::barrier<> all;
  double a[side][words] = {}, b[side][words] = {};
};
thread_local Operands* operands = nullptr;
thread_local int own_lane = 0;

template <class Unit>
struct Played : Unit {
  using typename Unit::Sum, typename Unit::Word;
  struct fragment_a {
    Word word[Unit::share];
  };
  using fragment_b = fragment_a;
  struct fragment_c {
    Sum sum[Unit::sums] = {};
  };
  static void load(fragment_a& fragment, const Word* piece, int lane) {
    __builtin_memcpy(fragment.word, piece + lane * Unit::share, sizeof fragment.word);
  }
  static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    for (int i = 0; i < Unit::share; ++i) {
      const mma::Place place = Unit::word_of(own_lane, i);
      __builtin_memcpy(&operands->a[place.row][place.word], a.word + i, sizeof(double));
      __builtin_memcpy(&operands->b[place.row][place.word], b.word + i, sizeof(double));
    }
    operands->all.arrive_and_wait();
    for (int i = 0; i < Unit::sums; ++i)
      for (int w = 0; w < words; ++w)
        c.sum[i] += operands->a[Unit::row(own_lane, i)][w] * operands->b[Unit::column(own_lane, i)][w];
    operands->all.arrive_and_wait();
  }
  static void values(const fragment_c& c, Sum (&out)[Unit::sums]) {
    for (int i = 0; i < Unit::sums; ++i) out[i] = c.sum[i];
  }
};

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

/// Each row by one of a column's lanes: subgroups of one part take steps in turn.
template <class Unit, int blocks, bool weighted, int part, int parts>
void add_part(const Data& data, const Group<std::function<void()>>& team, int rows, double* scratch) {
  using Units = GramUnits<Unit, blocks, 2, weighted, part, parts>;
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
    units.add(x, v);
  }
  leave_in_turn(team, Unit::lanes, parts, [&](int, bool is_first) { units.leave(lane, is_first, scratch); });
}

template <class Unit, int blocks, bool weighted, int parts>
void expect_sums(int subgroups, int rows) {
  SCOPED_TRACE(std::to_string(blocks) + " blocks, " + std::to_string(parts) + " parts, " + std::to_string(subgroups) +
               " subgroups, " + std::to_string(rows) + " rows");
  using Units = GramUnits<Unit, blocks, 2, weighted, 0, parts>;
  using Layout = typename Units::Layout;
  const Data data(blocks * side, rows, weighted);
  std::vector<double> scratch(Units::scratch_size, std::nan(""));
  std::barrier all(subgroups * Unit::lanes);
  std::vector<std::unique_ptr<Operands>> of_subgroups;
  for (int i = 0; i < subgroups; ++i) of_subgroups.push_back(std::make_unique<Operands>(Unit::lanes));
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < subgroups * Unit::lanes; ++rank)
      threads.emplace_back([&, rank] {
        operands = of_subgroups[static_cast<std::size_t>(rank / Unit::lanes)].get(), own_lane = rank % Unit::lanes;
        const Group<std::function<void()>> team{rank, subgroups * Unit::lanes, [&] { all.arrive_and_wait(); }};
        if (rank / Unit::lanes % parts == 0)
          add_part<Unit, blocks, weighted, 0, parts>(data, team, rows, scratch.data());
        else
          add_part<Unit, blocks, weighted, parts - 1, parts>(data, team, rows, scratch.data());
      });
  }
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
using AllUnits = ::testing::Types<mma::Scalar<Element::f64>, mma::Thread<Element::f64>, Played<mma::Warp<Element::f64>>,
                                  Played<mma::Wavefront<Element::f64>>>;
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
  int lower = 0;  // of the units on the diagonal, what is below it
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
