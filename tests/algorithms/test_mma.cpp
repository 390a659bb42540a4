// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "algorithms/blocks/mma_cuda.hpp"
#include "algorithms/blocks/mma_hip.hpp"
#include "algorithms/blocks/mma_host.hpp"
#include "algorithms/blocks/wgmma_cuda.hpp"
#include "tests/backends/mma_probe.hpp"
#include "tests/runtime.hpp"

namespace league::tests {
MmaProduct& mma_product_on_gpu() {
  static MmaProduct product = nullptr;
  return product;
}
}  // namespace league::tests

namespace league::blocks::mma {
namespace {

/// All 16-bit values are preserved by rounding; values between two neighbours round to the nearer one.
template <Element element>
void expect_nearest(float highest) {
  using T = Traits<element>;
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    const auto value = static_cast<std::uint16_t>(bits);
    const float wide = T::widen(value);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(T::widen(T::narrow(wide)))) << bits;
      continue;
    }
    ASSERT_EQ(T::narrow(wide), value) << wide;
    if (std::signbit(wide) || wide >= highest) continue;
    const float next = T::widen(static_cast<std::uint16_t>(bits + 1));
    const float middle = wide + (next - wide) / 2;  // exact in float
    if (middle == wide) continue;                   // the smallest subnormals of float
    ASSERT_EQ(T::narrow(std::nextafter(middle, 0.0F)), value) << wide;
    ASSERT_EQ(T::narrow(middle), bits % 2 == 0 ? value : value + 1) << wide;
    ASSERT_EQ(T::narrow(std::nextafter(middle, next)), value + 1) << wide;
    ASSERT_EQ(T::narrow(-wide), value | 0x8000U) << wide;
  }
}

TEST(Mma, RoundsToTheNearestHalf) {
  expect_nearest<Element::f16>(65504);
  EXPECT_EQ(Traits<Element::f16>::narrow(65519.996F), 0x7bff);
  EXPECT_EQ(Traits<Element::f16>::narrow(65520), 0x7c00);
}
TEST(Mma, RoundsToTheNearestBf16) { expect_nearest<Element::bf16>(3.38e38F); }
TEST(Mma, RoundsToTheNearestTf32) {
  using T = Traits<Element::tf32>;
  EXPECT_EQ(T::narrow(1 + 0x1p-11F), 1);
  EXPECT_EQ(T::narrow(1 + 0x1.8p-10F), 1 + 0x1p-9F);
  EXPECT_EQ(T::widen(1 + 0x1p-11F), 1);
}

template <class Unit>
class Units : public ::testing::Test {
 protected:
  using Value = typename Unit::Value;
  using Sum = typename Unit::Sum;

  void SetUp() override {
    if (Unit::lanes > 1 && tests::mma_product_on_gpu() == nullptr) GTEST_SKIP() << "this build has no such unit";
    if (Unit::lanes > 1 && tests::runtime().gpus().empty()) GTEST_SKIP() << "no GPU answers";
  }

  /// Rows [16] as pieces of `Unit`, over several steps.
  template <Operand operand>
  static std::vector<typename Unit::Word> packed(const std::vector<Value>& rows, int depth) {
    const Pieces<Unit, operand> pieces(side, depth, side);
    std::vector<typename Unit::Word> words(static_cast<std::size_t>(pieces.size()));
    for (int row = 0; row < side; ++row)
      for (int f = 0; f < depth; ++f)
        std::memcpy(reinterpret_cast<Value*>(&words[static_cast<std::size_t>(pieces.at(row, f / Unit::per_word))]) +
                        f % Unit::per_word,
                    &rows[static_cast<std::size_t>(row * depth + f)], sizeof(Value));
    return words;
  }

  /// C [16 x 16], row by row: on the host for units with one lane, else on a GPU.
  static std::vector<Sum> product(const std::vector<Value>& a, const std::vector<Value>& b, int depth) {
    const auto pieces_a = packed<Operand::a>(a, depth), pieces_b = packed<Operand::b>(b, depth);
    std::vector<Sum> c(side * side, Sum{1});
    if constexpr (Unit::lanes > 1) {
      tests::mma_product_on_gpu()(tests::runtime().queue({DeviceKind::gpu, 0, 1}), Unit::element,
                                  std::is_same_v<Unit, WarpMatrices>, std::as_bytes(std::span(pieces_a)),
                                  std::as_bytes(std::span(pieces_b)), std::as_writable_bytes(std::span(c)));
    } else {
      typename Unit::fragment_c sums;
      for (std::size_t at = 0; at < pieces_a.size(); at += piece_words) {
        typename Unit::fragment_a x;
        typename Unit::fragment_b y;
        Unit::load(x, &pieces_a[at], 0);
        Unit::load(y, &pieces_b[at], 0);
        Unit::mma_sync(sums, x, y);
      }
      Sum values[Unit::sums];
      Unit::values(sums, values);
      for (int i = 0; i < Unit::sums; ++i)
        c[static_cast<std::size_t>(Unit::row(0, i) * side + Unit::column(0, i))] = values[i];
    }
    return c;
  }

  /// The expected values, from the rows.
  static std::vector<double> expected(const std::vector<Value>& a, const std::vector<Value>& b, int depth) {
    std::vector<double> c;
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j) {
        double sum = 0;
        for (int f = 0; f < depth; ++f)
          sum += static_cast<double>(widen(a[static_cast<std::size_t>(i * depth + f)])) *
                 static_cast<double>(widen(b[static_cast<std::size_t>(j * depth + f)]));
        c.push_back(sum);
      }
    return c;
  }
  static auto widen(Value value) { return Traits<Unit::element>::widen(value); }
  static Value narrow(int value) { return Traits<Unit::element>::narrow(static_cast<float>(value)); }

  std::mt19937 random_{1};
};

using AllUnits = ::testing::Types<Scalar<Element::u8>, Scalar<Element::s8>, Scalar<Element::f16>, Scalar<Element::bf16>,
                                  Scalar<Element::tf32>, Scalar<Element::f32>, Scalar<Element::f64>,
                                  Thread<Element::u8>, Thread<Element::s8>, Thread<Element::f16>, Thread<Element::bf16>,
                                  Thread<Element::tf32>, Thread<Element::f32>, Thread<Element::f64>, Warp<Element::u8>,
                                  Warp<Element::s8>, Warp<Element::f16>, Warp<Element::bf16>, Warp<Element::tf32>,
                                  Warp<Element::f32>, Warp<Element::f64>, WarpMatrices>;
TYPED_TEST_SUITE(Units, AllUnits);

TYPED_TEST(Units, AreExactForIntegers) {
  constexpr bool is_byte = sizeof(typename TypeParam::Value) == 1;
  constexpr int low = TypeParam::element == Element::u8 ? 0 : is_byte ? -128 : -256;
  constexpr int high = TypeParam::element == Element::s8 ? 127 : is_byte ? 255 : 256;
  for (const int depth : {1, 3, 8, 31, 32, 33, 200}) {
    std::uniform_int_distribution<int> value(low, high), end(0, 3);
    std::vector<typename TypeParam::Value> a, b;
    for (int i = 0; i < side * depth; ++i) {  // a quarter of them at the ends of the range
      const auto one = [&] {
        return end(this->random_) == 0 ? (end(this->random_) % 2 ? low : high) : value(this->random_);
      };
      a.push_back(this->narrow(one()));
      b.push_back(this->narrow(one()));
    }
    const auto c = this->product(a, b, depth);
    const auto exact = this->expected(a, b, depth);
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(static_cast<double>(c[i]), exact[i]) << depth << " " << i;
  }
}

TYPED_TEST(Units, AreNearTheExactSums) {
  if (sizeof(typename TypeParam::Value) == 1) GTEST_SKIP() << "bytes are integers";
  constexpr int depth = 100;
  std::normal_distribution<float> value;
  std::vector<typename TypeParam::Value> a, b;
  for (int i = 0; i < side * depth; ++i) {
    a.push_back(Traits<TypeParam::element>::narrow(value(this->random_)));
    b.push_back(Traits<TypeParam::element>::narrow(value(this->random_)));
  }
  const auto c = this->product(a, b, depth);
  const auto exact = this->expected(a, b, depth);
  // Matrix units may truncate additions instead of rounding: twice the unit roundoff.
  const double step = TypeParam::element == Element::f64 ? 0x1p-52 : 0x1p-23;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      double sizes = 0;
      for (int f = 0; f < depth; ++f)
        sizes += std::abs(static_cast<double>(this->widen(a[static_cast<std::size_t>(i * depth + f)])) *
                          static_cast<double>(this->widen(b[static_cast<std::size_t>(j * depth + f)])));
      const auto at = static_cast<std::size_t>(i * side + j);
      EXPECT_LE(std::abs(static_cast<double>(c[at]) - exact[at]), (depth + 1) * step * sizes);
    }
}

/// Layouts of units that cannot run here: every word and every sum has one position, all different.
template <class Unit>
class Layouts : public ::testing::Test {};
using AllLayouts = ::testing::Types<Scalar<Element::s8>, Warp<Element::u8>, Warp<Element::f32>, Warp<Element::f64>,
                                    WarpMatrices, Wavefront<Element::s8>, Wavefront<Element::bf16>,
                                    Wavefront<Element::tf32>, Wavefront<Element::f64>>;
TYPED_TEST_SUITE(Layouts, AllLayouts);

template <class Unit, Operand operand>
void expect_a_place_for_every_word() {
  std::set<int> offsets;
  for (int row = 0; row < side; ++row)
    for (int word = 0; word < words; ++word) offsets.insert(Unit::template offset<operand>(row, word));
  EXPECT_EQ(offsets.size(), static_cast<std::size_t>(piece_words));
  EXPECT_EQ(*offsets.begin(), 0);
  EXPECT_EQ(*offsets.rbegin(), piece_words - 1);
  for (int lane = 0; lane < Unit::lanes; ++lane) {
    std::set<std::pair<int, int>> rows;
    for (int i = 0; i < Unit::share; ++i) {
      const Place place = Unit::template word_of<operand>(lane, i);
      EXPECT_EQ(Unit::template offset<operand>(place.row, place.word), lane * Unit::share + i);
      rows.emplace(Unit::template lane_row<operand>(i), place.row);
    }
    EXPECT_EQ(std::ssize(rows), Unit::lane_rows);  // each index is one row
  }
}

TYPED_TEST(Layouts, HaveAPlaceForEverything) {
  expect_a_place_for_every_word<TypeParam, Operand::a>();
  expect_a_place_for_every_word<TypeParam, Operand::b>();
  std::set<int> places;
  for (int lane = 0; lane < TypeParam::lanes; ++lane) {
    for (int i = 0; i < TypeParam::sums; ++i) {
      places.insert(TypeParam::row(lane, i) * side + TypeParam::column(lane, i));
      const int first = i - i % TypeParam::run;
      EXPECT_EQ(TypeParam::row(lane, i), TypeParam::row(lane, first));
      EXPECT_EQ(TypeParam::column(lane, i), TypeParam::column(lane, first) + i - first);
    }
    for (int row = 0; row < TypeParam::sum_rows; ++row)
      for (int n = 0; n < TypeParam::sums / TypeParam::sum_rows; ++n)
        EXPECT_EQ(TypeParam::row(lane, TypeParam::sum_at(row, n)), TypeParam::row(lane, TypeParam::sum_at(row, 0)));
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(side * side));
}

TEST(Warpgroups, HaveAPlaceForEverything) {
  using Unit = Warpgroup<Element::s8>;
  expect_a_place_for_every_word<Unit, Operand::a>();
  expect_a_place_for_every_word<Unit, Operand::b>();
  std::set<int> places;
  for (int thread = 0; thread < Unit::threads; ++thread)
    for (int i = 0; i < Unit::sums; ++i) {
      places.insert(Unit::row(thread, i) * Unit::columns + Unit::column(thread, i));
      const int row = i / 2 % 2, number = i / 4 * 2 + i % 2;  // within the row
      EXPECT_EQ(Unit::sum_at(row, number), i);
    }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(Unit::rows * Unit::columns));
}

TEST(Pieces, OfAStepLieTogether) {
  using Unit = Warp<Element::s8>;
  const Pieces<Unit> pieces(100, 70, 48);  // 3 panels of 48 rows, 3 steps of 32 elements
  EXPECT_EQ(pieces.rows, 144);
  EXPECT_EQ(pieces.steps, 3);
  EXPECT_EQ(pieces.size(), 144 * 3 * words);
  std::set<std::int64_t> all;
  for (std::int64_t row = 0; row < pieces.rows; ++row)
    for (int word = 0; word < pieces.steps * words; ++word) {
      const std::int64_t at = pieces.at(row, word), first = pieces.step(row, word / words);
      EXPECT_GE(at, first);
      EXPECT_LT(at, first + 48 * words);
      all.insert(at);
    }
  EXPECT_EQ(std::ssize(all), pieces.size());
  EXPECT_EQ(*all.rbegin(), pieces.size() - 1);
}

}  // namespace
}  // namespace league::blocks::mma
