// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/distance_matrix/common/units.hpp"
#include "tests/algorithms/late_copies.hpp"

// Floats as two f16 each: the parts, and distances by tiles of them, here with the scalar unit for f16.
namespace league::distance_matrix {
namespace {

namespace mma = blocks::mma;
using Unit = mma::Split<mma::Scalar<mma::Element::f16>>;
template <int down, int across, int units_down, int units_across, int stages>
using Tile = blocks::UnitTile<Unit, down, across, units_down, units_across, stages>;

TEST(SplitUnits, ScalesAreNormalPowersOfTwo) {
  for (const float largest :
       {0x1p-149F, 0x1p-126F, 0x1.8p-113F, 0x1p-112F, 1e-30F, 0.75F, 1.0F, 1e15F, 0x1.fffffep127F}) {
    const float inverse = blocks::inverse_scale(blocks::order_of_size(-largest)),
                scale = blocks::inverse_power(inverse);
    EXPECT_TRUE(std::isnormal(scale) && std::isnormal(inverse)) << largest;
    EXPECT_EQ(scale * inverse, 1) << largest;
    EXPECT_LT(largest * scale, 0x1p15F) << largest;
    if (largest >= 0x1p-112F) {
      EXPECT_GE(largest * scale, 0x1p14F) << largest;
    }
  }
  EXPECT_EQ(blocks::inverse_scale(blocks::order_of_size(0)), 0x1p-126F);
}

TEST(SplitUnits, PartsAddUpToTheElement) {
  const auto widen = [](std::uint16_t half) {
    return static_cast<double>(mma::Traits<mma::Element::f16>::widen(half));
  };
  std::mt19937 random{9};
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(-40, 14);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::ldexp(mantissa(random), exponent(random)) * (i % 2 == 0 ? 1.0F : -1.0F);
    const blocks::Halves parts = blocks::halves_of(value);
    const double size = std::abs(static_cast<double>(value));
    ASSERT_LE(std::abs(widen(parts.low)), size * 0x1p-11) << value;
    ASSERT_LE(std::abs(static_cast<double>(value) - widen(parts.high) - widen(parts.low)),
              std::max(size * 0x1p-23, 0x1p-25))
        << value;
  }
}

TEST(SplitUnits, MatricesAreLoadedInTheOrderOfTheInstruction) {
  using Halves = mma::Warp<mma::Element::f16>;
  std::uint32_t piece[mma::piece_words];
  for (int row = 0; row < mma::side; ++row)
    for (int word = 0; word < mma::words; ++word)
      piece[mma::WarpMatrices::offset(row, word)] = static_cast<std::uint32_t>(row * mma::words + word);
  for (int lane = 0; lane < Halves::lanes; ++lane) {
    mma::WarpMatrices::fragment_a a;
    mma::WarpMatrices::fragment_b b;
    mma::WarpMatrices::load(a, piece, lane);
    mma::WarpMatrices::load(b, piece, lane);
    for (int i = 0; i < Halves::share; ++i) {
      const auto in_a = Halves::word_of<mma::Operand::a>(lane, i), in_b = Halves::word_of<mma::Operand::b>(lane, i);
      EXPECT_EQ(a.word[i], static_cast<std::uint32_t>(in_a.row * mma::words + in_a.word));
      EXPECT_EQ(b.word[i], static_cast<std::uint32_t>(in_b.row * mma::words + in_b.word));
    }
  }
}

struct Points {
  int n, dimension;
  std::vector<float> values;
};

/// Squared distances, computed as in the kernels.
template <class Tile, bool mirror>
std::vector<float> distances(const Points& points) {
  const int n = points.n;
  const mma::Pieces<Unit> pieces(n, points.dimension, Tile::rows);
  std::vector<Unit::Word> packed(static_cast<std::size_t>(pieces.size()));
  std::vector<float> norms(static_cast<std::size_t>(pieces.rows)), inverse_scales(norms);
  std::vector<float> found(static_cast<std::size_t>(n * n), std::numeric_limits<float>::quiet_NaN());
  const SplitRows<Unit> rows{points.values.data(), n, points.dimension, norms.data(), inverse_scales.data()};
  const auto add = [](double* to, double value) { *to += value; };
  const auto peak = [](std::int32_t* to, std::int32_t value) { *to = std::max(*to, value); };
  for (std::int64_t first = 0; first < pieces.rows; first += mma::side) {
    double totals[mma::side];
    blocks::pack_rows<Unit>(blocks::one_thread, rows, pieces, first, totals, packed.data(), add, peak);
  }
  Tiles<float> tiles{n, 0, n, false, {}, nullptr, norms.data(), found.data()};
  if (mirror)
    tiles.share_upper<Tile>();
  else
    tiles.share<Tile>();
  const UnitWork<float, Unit> work{tiles, pieces, packed.data(), inverse_scales.data()};
  std::vector<blocks::PlainCopies::Packet> scratch(Tile::scratch_bytes / sizeof(blocks::PlainCopies::Packet));
  std::barrier all(Tile::threads);
  const auto play = [&](int rank) {
    const auto group = blocks::group_of(rank, Tile::threads, [&all] { all.arrive_and_wait(); });
    for (unsigned item = 0; item < tiles.items; ++item) {
      const Corner corner = work.template corner<mirror, Tile>(item);
      group.barrier();
      blocks::LateCopies::reset();
      blocks::Pipeline<Tile, blocks::LateCopies, decltype(group)> pipeline(
          group, reinterpret_cast<Unit::Word*>(scratch.data()), work.pieces_of(corner.row),
          work.pieces_of(corner.column), pieces.steps, 1);
      blocks::TileSums<Tile> sums;
      pipeline.next(sums);
      store_values<mirror>(work, rank, corner, blocks::TileValues<Tile>(sums));
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 1; rank < Tile::threads; ++rank) threads.emplace_back(play, rank);
  play(0);
  return found;
}

/// Rows of different sizes, rows with elements of different sizes, rows near each other, rows of zeros, and elements
/// with the largest splitting errors.
Points hard(int n, int dimension) {
  std::mt19937 random{static_cast<unsigned>(n * 1000 + dimension)};
  std::normal_distribution<double> value;
  std::uniform_real_distribution<double> decades(-6, 6), sizes(-30, 15);
  Points points{n, dimension, {}};
  std::vector<double> common;
  for (int k = 0; k < dimension; ++k) common.push_back(value(random));
  for (int row = 0; row < n; ++row) {
    const double size = std::pow(10.0, sizes(random));
    for (int k = 0; k < dimension; ++k) {
      const double one[] = {value(random) * size,
                            value(random) * std::pow(10.0, decades(random)),
                            common[static_cast<std::size_t>(k)] * (1 + 1e-6 * value(random)),
                            0.0,
                            (value(random) < 0 ? -1 : 1) * (1 + 0x1p-11 - 3 * 0x1p-23),
                            1 + 0x1p-11 - 3 * 0x1p-23};
      points.values.push_back(static_cast<float>(one[row % 6]));
    }
  }
  return points;
}

/// Two equal points whose parts are exact: the error of |x|^2 + |x|^2 - 2 x.x is less than low x low.
TEST(SplitUnits, FewCoordinatesLoseNothing) {
  for (const int dimension : {1, 2, 3}) {
    const Points points{2, dimension,
                        std::vector<float>(static_cast<std::size_t>(2 * dimension), 1 + 0x1p-11F - 0x1p-21F)};
    EXPECT_LT((distances<Tile<1, 1, 1, 1, 0>, false>(points)[1]), static_cast<float>(dimension) * 0x1p-22F)
        << dimension;
  }
}

template <class Tile>
class SplitTiles : public ::testing::Test {};
using AllTiles = ::testing::Types<Tile<1, 1, 1, 1, 0>, Tile<1, 1, 2, 2, 2>, Tile<2, 2, 1, 1, 2>, Tile<2, 1, 1, 2, 3>>;
TYPED_TEST_SUITE(SplitTiles, AllTiles);

TYPED_TEST(SplitTiles, KeepTheBoundOfFloats) {
  for (const int n : {1, 2, 13, 37})
    for (const int dimension : {1, 2, 3, 7, 8, 9, 16, 17, 33, 101}) {
      const Points points = hard(n, dimension);
      const auto found = distances<TypeParam, false>(points), mirrored = distances<TypeParam, true>(points);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          double squared = 0, norms = 0;
          for (int k = 0; k < dimension; ++k) {
            const double x = points.values[static_cast<std::size_t>(i * dimension + k)],
                         y = points.values[static_cast<std::size_t>(j * dimension + k)];
            squared += (x - y) * (x - y);
            norms += x * x + y * y;
          }
          const auto at = static_cast<std::size_t>(i * n + j), image = static_cast<std::size_t>(j * n + i);
          ASSERT_NEAR(found[at], squared, (dimension + 4) * 0x1p-23 * norms + 0x1p-140)
              << n << " x " << dimension << ": " << i << ", " << j;
          ASSERT_EQ(mirrored[at], found[i < j ? at : image]) << n << " x " << dimension << ": " << i << ", " << j;
        }
    }
}

}  // namespace
}  // namespace league::distance_matrix
