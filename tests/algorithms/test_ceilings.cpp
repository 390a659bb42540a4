// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include "algorithms/ceilings/ceilings.hpp"
#include "algorithms/ceilings/tensor.hpp"
#include "tests/runtime.hpp"

namespace league::ceilings {
namespace {

Ceilings make(const char* method, std::int64_t n, Dtype dtype) {
  const Parameters parameters{{{"n", std::to_string(n)}}};
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
  EXPECT_EQ(make("multiply_add", 1, Dtype::f32).cost().operations, 2.0 * 4096 * 1024);
}

/// What the oracle says the chains come to is what comes of taking the steps.
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

/// What the oracle says of a product of matrices is what comes of multiplying them.
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
