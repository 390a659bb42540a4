// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <random>
#include <thread>
#include <vector>

#include "algorithms/blocks/pieces.hpp"
#include "algorithms/blocks/unit_tile.hpp"
#include "tests/algorithms/late_copies.hpp"

// A team is simulated by host threads, each a subgroup of one lane.
namespace league::blocks {
namespace {

/// The scalar unit with fragments that hold their words, as registers do.
struct Unit : mma::Scalar<mma::Element::s8> {
  using Base = mma::Scalar<mma::Element::s8>;
  struct fragment_a {
    Word word[share];
  };
  using fragment_b = fragment_a;
  static void load(fragment_a& fragment, const Word* piece, int /*lane*/) { std::copy_n(piece, share, fragment.word); }
  static void mma_sync(fragment_c& c, const fragment_a& a, const fragment_b& b) {
    Base::mma_sync(c, {a.word}, {b.word});
  }
};
using Word = Unit::Word;

struct Bytes {
  using Sum = std::int32_t;
  static constexpr int sums = 1;
  const std::vector<std::int8_t>& data;
  std::int64_t n;
  int features;
  std::vector<std::int32_t>& norms;

  using Elements = Pack<std::int8_t, Unit::per_word>;
  [[nodiscard]] bool whole() const { return features % Unit::per_word == 0; }
  template <bool whole>
  [[nodiscard]] Elements load(std::int64_t row, int begin) const {
    return load_elements<Unit::per_word, whole>(data.data() + row * features, row < n, begin, features, std::int8_t{0});
  }
  [[nodiscard]] Word word(std::int64_t /*row*/, int /*begin*/, const Elements& elements, Sum* sum) const {
    for (const std::int8_t value : elements.values) sum[0] += value * value;
    Word bits;
    __builtin_memcpy(&bits, elements.values, sizeof bits);
    return bits;
  }
  template <class Peak>
  void finish(std::int64_t row, const Sum* sum, const Peak& peak) const {
    norms[static_cast<std::size_t>(row)] = sum[0];
    peak(&norms.back(), sum[0]);
  }
};

std::vector<std::int8_t> random_bytes(std::int64_t count) {
  static std::mt19937 random{5};
  std::uniform_int_distribution<int> value(-128, 127);
  std::vector<std::int8_t> bytes;
  for (std::int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::int8_t>(value(random)));
  return bytes;
}

/// All rows as pieces of panels `height` high.
std::vector<Word> packed(const std::vector<std::int8_t>& data, std::int64_t n, int features, int height) {
  const mma::Pieces<Unit> pieces(n, features, height);
  std::vector<Word> words(static_cast<std::size_t>(pieces.size()));
  std::vector<std::int32_t> norms(static_cast<std::size_t>(pieces.rows) + 1);
  const Bytes rows{data, n, features, norms};
  const auto add = [](std::int32_t* to, std::int32_t value) { *to += value; };
  const auto peak = [](std::int32_t* to, std::int32_t value) { *to = std::max(*to, value); };
  for (std::int64_t first = 0; first < pieces.rows; first += mma::side) {
    std::int32_t totals[mma::side];
    pack_rows<Unit>(one_thread, rows, pieces, first, totals, words.data(), add, peak);
  }
  std::int32_t largest = 0;
  for (std::int64_t row = 0; row < pieces.rows; ++row) {
    std::int32_t norm = 0;
    for (int f = 0; row < n && f < features; ++f) {
      const std::int32_t value = data[static_cast<std::size_t>(row * features + f)];
      norm += value * value;
    }
    EXPECT_EQ(norms[static_cast<std::size_t>(row)], norm);
    largest = std::max(largest, norm);
  }
  EXPECT_EQ(norms.back(), largest);
  return words;
}

template <class Tile>
class UnitTiles : public ::testing::Test {};
using AllTiles =
    ::testing::Types<UnitTile<Unit, 1, 1, 1, 1, 0>, UnitTile<Unit, 1, 1, 2, 3, 2>, UnitTile<Unit, 1, 1, 1, 2, 3>,
                     UnitTile<Unit, 2, 2, 1, 2, 3>, UnitTile<Unit, 4, 1, 1, 1, 4>, UnitTile<Unit, 2, 3, 2, 1, 5>,
                     UnitTile<Unit, 2, 2, 1, 1, 4, 2>, UnitTile<Unit, 2, 1, 1, 2, 7, 3>>;
TYPED_TEST_SUITE(UnitTiles, AllTiles);

TYPED_TEST(UnitTiles, MakeOneTileAfterAnother) {
  using Tile = TypeParam;
  for (const int tiles : {1, 2, 5})
    for (const int features : {1, 31, 33, 130, 200}) {
      const std::int64_t rows = Tile::rows - 3, columns = Tile::columns * tiles - 5;
      const auto a = random_bytes(rows * features), b = random_bytes(columns * features);
      const auto pieces_a = packed(a, rows, features, Tile::rows),
                 pieces_b = packed(b, columns, features, Tile::columns);
      const int steps = mma::Pieces<Unit>(1, features, 16).steps;
      std::vector<Word> scratch(Tile::scratch_bytes / sizeof(Word) + 4);
      auto* aligned = reinterpret_cast<Word*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 15) / 16 * 16);
      std::vector<int> found(static_cast<std::size_t>(Tile::rows * Tile::columns * tiles), 1 << 30);
      std::barrier all(Tile::threads);
      const auto work = [&](int rank) {
        int barriers = 0;
        const auto group = group_of(rank, Tile::threads, [&] {
          all.arrive_and_wait();
          ++barriers;
        });
        LateCopies::reset();
        Pipeline<Tile, LateCopies, decltype(group)> pipeline(group, aligned, pieces_a.data(), pieces_b.data(), steps,
                                                             tiles);
        for (int tile = 0; tile < tiles; ++tile) {
          TileSums<Tile> sums;
          const int before = barriers;
          pipeline.next(sums);
          EXPECT_TRUE(Tile::stages == 0 || barriers > before) << "tile " << tile << " features " << features;
          TileValues<Tile> values(sums);
          values.for_runs(rank, [&](int row, int column, const int* run) {
            for (int i = 0; i < Unit::run; ++i)
              found[static_cast<std::size_t>(row * Tile::columns * tiles + tile * Tile::columns + column + i)] = run[i];
          });
        }
      };
      std::vector<std::jthread> threads;
      for (int rank = 1; rank < Tile::threads; ++rank) threads.emplace_back(work, rank);
      work(0);
      threads.clear();
      for (std::int64_t row = 0; row < Tile::rows; ++row)
        for (std::int64_t column = 0; column < Tile::columns * tiles; ++column) {
          int sum = 0;
          for (int f = 0; row < rows && column < columns && f < features; ++f)
            sum += a[static_cast<std::size_t>(row * features + f)] * b[static_cast<std::size_t>(column * features + f)];
          ASSERT_EQ(found[static_cast<std::size_t>(row * Tile::columns * tiles + column)], sum)
              << row << " " << column << " features " << features << " tiles " << tiles;
        }
    }
}

}  // namespace
}  // namespace league::blocks
