// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "algorithms/blocks/mma.hpp"
#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/ceilings/tensor.hpp"
#include "tests/runtime.hpp"

namespace league::ceilings {
namespace {

Ceilings make(const char* method, std::int64_t n, Dtype dtype, const char* operands = "constant") {
  const Parameters parameters{{{"n", std::to_string(n)}, {"operands", operands}}};
  Ceilings problem(Making{parameters, dtype, 7, nullptr, method});
  problem.make_inputs({0, problem.extent()}, tests::runtime().host_memory());
  return problem;
}

TEST(Ceilings, RoundsUpToWholeChunks) {
  EXPECT_EQ(make("copy", 1, Dtype::f32).extent(), 1);
  EXPECT_EQ(make("copy", 4096, Dtype::f32).extent(), 1);
  EXPECT_EQ(make("copy", 4097, Dtype::f32).extent(), 2);
  EXPECT_EQ(make("copy", 4097, Dtype::f64).extent(), 3);
  EXPECT_EQ(make("multiply_add", 1, Dtype::f64).extent(), 2048 / chains);
}

TEST(Ceilings, CountsBytesAndOperations) {
  const double bytes = 16384;
  EXPECT_EQ(make("copy", 1, Dtype::f32).cost().bytes, 2 * bytes);
  EXPECT_EQ(make("read", 1, Dtype::f64).cost().bytes, bytes);
  EXPECT_EQ(make("write", 1, Dtype::f64).cost().bytes, bytes);
  EXPECT_EQ(make("add", 1, Dtype::f32).cost().bytes, 3 * bytes);
  EXPECT_EQ(make("add", 1, Dtype::u8).cost().bytes, 3 * bytes);
  EXPECT_EQ(make("triad", 1, Dtype::f32).cost().bytes, 3 * bytes);
  EXPECT_EQ(make("triad", 1, Dtype::f32).cost().operations, 2.0 * 4096);
  EXPECT_EQ(make("dot", 1, Dtype::f64).cost().bytes, 2 * bytes);
  EXPECT_EQ(make("dot", 1, Dtype::f64).cost().operations, 2.0 * 2048);
  EXPECT_EQ(make("multiply_add", 1, Dtype::f32).cost().operations, 2.0 * 4096 * 1024);
}

TEST(Ceilings, SumsBytesInIntegers) {
  const Ceilings problem = make("read", 40000, Dtype::u8);
  Outputs outputs = problem.make_outputs({0, problem.extent()}, tests::runtime().host_memory());
  const auto sums = outputs[0].values.values<std::int32_t>();
  ASSERT_EQ(sums.size(), 3U);
  const auto bytes = problem.a.values<std::uint8_t>();
  for (std::size_t chunk = 0; chunk < sums.size(); ++chunk)
    sums[chunk] = chunk_sum(Elements<std::uint8_t>{bytes.data() + chunk * static_cast<std::size_t>(chunk_bytes)});
  EXPECT_GT(sums[0], 1 << 16) << "more than the partial sums of a thread hold";
  EXPECT_TRUE(problem.check_alone(outputs).passed());
  sums.back() += 1;
  EXPECT_FALSE(problem.check_alone(outputs).passed());
}

TEST(Ceilings, PartialSumsHoldAnyBytes) {
  const std::vector<std::uint8_t> bytes(chunk_bytes, 255);
  EXPECT_EQ(chunk_sum(Elements<std::uint8_t>{bytes.data()}), 255 * chunk_bytes);
}

/// Also in any order: no partial sum is larger.
TEST(Ceilings, SumsOfProductsAreExactInFloat) {
  const Ceilings problem = make("dot", 40000, Dtype::f32);
  for (const HostArray* array : {&problem.a, &problem.b})
    for (const float value : array->values<float>()) ASSERT_LT(value, 64);
  static_assert(63 * 63 * chunk_size<float> < 1 << 24);
  Outputs outputs = problem.make_outputs({0, problem.extent()}, tests::runtime().host_memory());
  const Products<float> products{problem.a.values<float>().data(), problem.b.values<float>().data()};
  const auto sums = outputs[0].values.values<float>();
  for (std::int64_t chunk = 0; chunk < problem.rows; ++chunk)
    sums[static_cast<std::size_t>(chunk)] = chunk_sum(products.from(chunk * chunk_size<float>));
  EXPECT_TRUE(problem.check_alone(outputs).passed());
  sums.front() += 1;
  EXPECT_FALSE(problem.check_alone(outputs).passed());
}

TEST(Ceilings, SumsOfTwoBytesAreBytes) {
  const Ceilings problem = make("add", 40000, Dtype::u8);
  for (const HostArray* array : {&problem.a, &problem.b})
    for (const std::uint8_t value : array->values<std::uint8_t>()) ASSERT_LT(value, 128);
}

/// The oracle's values of the chains agree with the recurrence.
template <class T>
void expect_closed_form() {
  const Ceilings problem = make("multiply_add", 4096, dtype_of<T>);
  const Recurrence r = recurrence;
  Outputs outputs = problem.make_outputs({0, problem.extent()}, tests::runtime().host_memory());
  const auto sums = outputs[0].values.values<T>();
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    double sum = 0;
    for (int chain = 0; chain < chains; ++chain) {
      auto x = start<double>(row, chain);
      for (int step = 0; step < r.steps; ++step) x = x * r.factor + (step % 2 == 0 ? r.even : r.odd);
      sum += x;
    }
    sums[static_cast<std::size_t>(row)] = static_cast<T>(sum);
  }
  EXPECT_TRUE(problem.check_alone(outputs).passed());
  sums.back() += 1;
  EXPECT_FALSE(problem.check_alone(outputs).passed());
}
TEST(Ceilings, ClosedFormIsTheRecurrence) {
  expect_closed_form<float>();
  expect_closed_form<std::int32_t>();
}

/// The oracle's sums of matrix products agree with multiplying the matrices.
TEST(Ceilings, TensorProductsAreCountedInTheirOwnTypes) {
  const auto bf16 = make("tensor", 20000, Dtype::bf16), u8 = make("tensor", 20000, Dtype::u8);
  EXPECT_EQ(bf16.extent(), 20);
  EXPECT_EQ(bf16.cost().operations, 2.0 * 20 * 16 * 64 * 16 * 1024);
  EXPECT_EQ(u8.cost().operations, 2 * bf16.cost().operations);
  EXPECT_EQ(make("tensor", 1, Dtype::f64).cost().operations, 2.0 * 16 * 64 * 4 * 1024);
  EXPECT_EQ(bf16.make_outputs({0, bf16.extent()}, tests::runtime().host_memory())[0].values.dtype(), Dtype::f32);
  Outputs outputs = u8.make_outputs({0, u8.extent()}, tests::runtime().host_memory());
  const auto sums = outputs[0].values.values<std::int32_t>();
  for (std::int64_t row = 0; row < u8.rows; ++row) {
    std::int64_t sum = 0;
    for (int i = 0; i < tensor_rows; ++i)
      for (int j = 0; j < tensor_columns; ++j)
        for (int k = 0; k < 32; ++k) sum += recurrence.steps * left(row) * right(row);
    sums[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(sum);
    EXPECT_EQ(static_cast<float>(sum), sum) << "exact in a float too";
  }
  EXPECT_TRUE(u8.check_alone(outputs).passed());
  sums[17] -= 1;
  EXPECT_FALSE(u8.check_alone(outputs).passed());
}

/// Neighbours differ, in a product [64 x 256] and from one to the next.
TEST(Ceilings, TensorProductsDifferFromTheirNeighbours) {
  for (std::int64_t row = 0; row < 100; ++row) {
    EXPECT_NE(left(row) * right(row), left(row + 1) * right(row + 1));
    EXPECT_NE(left(row), left(row + 4));
  }
}

/// The scalar unit agrees with the oracle for random operands, in the unit's types.
template <Dtype dtype>
void expect_random_products() {
  using Unit = blocks::mma::Scalar<element_of(dtype)>;
  using Sum = typename Unit::Sum;
  constexpr int side = blocks::mma::side, tiles = tensor_columns / side;
  const Ceilings problem = make("tensor", 2 * tensor_sums, dtype, "random");
  const Operands operands{problem.random_operands, problem.seed};
  Outputs outputs = problem.make_outputs({0, problem.rows}, tests::runtime().host_memory());
  const auto sums = outputs[0].values.values<Sum>();
  for (std::int64_t row = 0; row < problem.rows; ++row) {
    typename Unit::Word a[blocks::mma::piece_words] = {}, b[tiles][blocks::mma::piece_words] = {};
    for (int word = 0; word < row_words<dtype>; ++word)
      for (int i = 0; i < side; ++i) {
        a[Unit::offset(i, word)] = operands.word<dtype, Operand::a>(row, i, word);
        for (int tile = 0; tile < tiles; ++tile)
          b[tile][Unit::offset(i, word)] = operands.word<dtype, Operand::b>(row, tile * side + i, word);
      }
    double sum = 0;
    for (const auto& columns : b) {
      typename Unit::fragment_c c;
      for (int step = 0; step < recurrence.steps; ++step) Unit::mma_sync(c, {a}, {columns});
      for (const Sum value : c.sum) sum += static_cast<double>(value);
    }
    const auto whole = static_cast<std::int64_t>(sum);
    sums[static_cast<std::size_t>(row)] =
        dtype == Dtype::u8 ? static_cast<Sum>(static_cast<std::int32_t>(whole)) : static_cast<Sum>(whole);
  }
  const Verdict verdict = problem.check_alone(outputs);
  EXPECT_TRUE(verdict.passed()) << verdict.message;
  sums.front() = sums.back();
  EXPECT_FALSE(problem.check_alone(outputs).passed());
}
TEST(Ceilings, RandomTensorProductsAreExact) {
  expect_random_products<Dtype::f32>();
  expect_random_products<Dtype::f64>();
  expect_random_products<Dtype::f16>();
  expect_random_products<Dtype::bf16>();
  expect_random_products<Dtype::u8>();
}

/// Number of different values of B in the rows up to `rows`.
template <Dtype dtype>
std::size_t values_of_b(const Operands& operands, std::int64_t rows) {
  std::set<int> values;
  for (std::int64_t row = 0; row < rows; ++row)
    for (int i = 0; i < tensor_columns; ++i)
      for (int word = 0; word < row_words<dtype>; ++word) {
        int elements[Words<dtype>::per_word];
        operands.integers<dtype, Operand::b>(row, i, word, elements);
        values.insert(std::begin(elements), std::end(elements));
      }
  return values.size();
}
TEST(Ceilings, RandomOperandsHaveAllTheirValues) {
  const Operands random{true, 7}, other{true, 8};
  EXPECT_EQ(values_of_b<Dtype::f16>(random, 4), 63);
  EXPECT_EQ(values_of_b<Dtype::f32>(random, 4), 63);
  EXPECT_EQ(values_of_b<Dtype::u8>(random, 4), 256);
  EXPECT_GT(values_of_b<Dtype::f64>(random, 4), 1000);
  EXPECT_EQ(values_of_b<Dtype::u8>({}, 1), 1);
  EXPECT_NE((random.word<Dtype::u8, Operand::a>(0, 0, 0)), (other.word<Dtype::u8, Operand::a>(0, 0, 0)));
  EXPECT_EQ((random.word<Dtype::u8, Operand::a>(3, 5, 1)), (random.word<Dtype::u8, Operand::a>(0, 5, 1)));
  EXPECT_NE((random.word<Dtype::u8, Operand::a>(4, 5, 1)), (random.word<Dtype::u8, Operand::a>(0, 5, 1)));
  EXPECT_NE((random.word<Dtype::u8, Operand::b>(3, 5, 1)), (random.word<Dtype::u8, Operand::b>(0, 5, 1)));
  EXPECT_EQ((random.word<Dtype::u8, Operand::b>(7, 5, 1)), (random.word<Dtype::u8, Operand::b>(3, 5, 1)));
  EXPECT_NE((random.word<Dtype::u8, Operand::b>(16, 5, 1)), (random.word<Dtype::u8, Operand::b>(0, 5, 1)));
}

TEST(Ceilings, CheckSeesEveryElement) {
  const Ceilings problem = make("copy", 10000, Dtype::f64);
  Outputs outputs{{"values",
                   HostArray(tests::runtime().host_memory(), Dtype::f64, {problem.rows, problem.row_size}),
                   {0, problem.rows}}};
  std::ranges::copy(problem.a.values<const double>(), outputs[0].values.values<double>().begin());
  EXPECT_TRUE(problem.check_alone(outputs).passed());
  outputs[0].values.values<double>().back() += 1;
  EXPECT_FALSE(problem.check_alone(outputs).passed());
}

}  // namespace
}  // namespace league::ceilings
