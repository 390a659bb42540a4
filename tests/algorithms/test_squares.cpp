// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/blocks/mma_host.hpp"
#include "algorithms/blocks/squares.hpp"

namespace league::blocks {
namespace {

using mma::Element;

/// Every lane of every unit gets the right words of a square, by rows and by columns. For GPU units only the registers
/// are checked, lane by lane, not the products.
template <class Unit>
class SquaresOf : public ::testing::Test {};
using AllUnits = ::testing::Types<mma::Scalar<Element::s8>, mma::Thread<Element::u8>, mma::Thread<Element::s8>,
                                  mma::Thread<Element::f32>, mma::Warp<Element::u8>, mma::Warp<Element::s8>,
                                  mma::Warp<Element::tf32>, mma::Warp<Element::f32>, mma::Wavefront<Element::s8>,
                                  mma::Wavefront<Element::f32>>;
TYPED_TEST_SUITE(SquaresOf, AllUnits);

TYPED_TEST(SquaresOf, GiveOperandsByRowsAndByColumns) {
  using Unit = TypeParam;
  using Squares = blocks::Squares<Unit>;
  using Value = typename Unit::Value;
  constexpr int side = Squares::side, edge = Squares::edge;
  const auto value_at = [](int row, int column) { return static_cast<Value>((row * 31 + column * 7) % 251 - 100); };
  std::vector<typename Squares::Packet> square(static_cast<std::size_t>(Squares::blocks));
  std::set<std::pair<int, int>> places;
  for (int number = 0; number < Squares::blocks; ++number) {
    const auto place = Squares::position(number);
    EXPECT_EQ(Squares::block_at(place.row / edge, place.column / edge), number);
    places.emplace(place.row, place.column);
    Value values[edge * edge];
    for (int i = 0; i < edge * edge; ++i) values[i] = value_at(place.row + i / edge, place.column + i % edge);
    std::memcpy(&square[static_cast<std::size_t>(number)], values, sizeof values);
  }
  EXPECT_EQ(std::ssize(places), Squares::blocks);
  std::map<int, int> element_at;  // element of the depth, by its position in the unit's steps
  std::set<int> rows;
  for (int i = 0; i < side; ++i) {
    element_at[Squares::depth_of(i)] = i;
    rows.insert(Squares::row_of(i / mma::side, i % mma::side));
  }
  ASSERT_EQ(element_at.rbegin()->first, side - 1);
  ASSERT_EQ(*rows.rbegin(), side - 1);
  ASSERT_EQ(std::ssize(element_at), side);
  ASSERT_EQ(std::ssize(rows), side);

  const auto* words = reinterpret_cast<const typename Unit::Word*>(square.data());
  const auto expect_lane = [&]<bool columns>(std::bool_constant<columns>, int lane) {
    typename Squares::Part part;
    Squares::template load<columns>(part, words, lane);
    for (int tile = 0; tile < Squares::tiles; ++tile)
      for (int step = 0; step < Squares::steps; ++step) {
        typename Squares::Operand operand;
        Squares::template take<columns>(operand, part, tile, step);
        for (int i = 0; i < Unit::share; ++i) {
          const mma::Place place = Unit::word_of(lane, i);
          Value values[Unit::per_word];
          std::memcpy(values, &operand.word[i], sizeof values);
          for (int k = 0; k < Unit::per_word; ++k) {
            const int row = Squares::row_of(tile, place.row);
            const int depth = element_at.at(step * Unit::depth + place.word * Unit::per_word + k);
            ASSERT_EQ(values[k], columns ? value_at(depth, row) : value_at(row, depth))
                << "lane " << lane << " tile " << tile << " step " << step << " word " << i << " columns " << columns;
          }
        }
      }
  };
  for (int lane = 0; lane < Unit::lanes; ++lane) {
    expect_lane(std::false_type{}, lane);
    expect_lane(std::true_type{}, lane);
  }
}

}  // namespace
}  // namespace league::blocks
