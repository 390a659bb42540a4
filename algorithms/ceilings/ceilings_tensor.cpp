// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/ceilings/tensor.hpp"

namespace league::ceilings {
namespace {

/// The sum of the elements of A B: over the depth, (sum of a column of A) x (sum of a row of B).
template <Dtype dtype>
std::int64_t sum_of_product(const Operands& operands, std::int64_t row) {
  constexpr int per_word = Words<dtype>::per_word;
  std::int64_t sum = 0;
  for (int word = 0; word < row_words<dtype>; ++word) {
    std::int64_t a[per_word] = {}, b[per_word] = {};
    int elements[per_word];
    for (int i = 0; i < tensor_rows; ++i) {
      operands.integers<dtype, Operand::a>(row, i, word, elements);
      for (int e = 0; e < per_word; ++e) a[e] += elements[e];
    }
    for (int j = 0; j < tensor_columns; ++j) {
      operands.integers<dtype, Operand::b>(row, j, word, elements);
      for (int e = 0; e < per_word; ++e) b[e] += elements[e];
    }
    for (int e = 0; e < per_word; ++e) sum += a[e] * b[e];
  }
  return sum;
}

}  // namespace

double product_sum(Dtype dtype, const Operands& operands, std::int64_t row, int steps) {
  switch (dtype) {
    case Dtype::f64:
      return static_cast<double>(steps * sum_of_product<Dtype::f64>(operands, row));
    case Dtype::f16:
      return static_cast<double>(steps * sum_of_product<Dtype::f16>(operands, row));
    case Dtype::bf16:
      return static_cast<double>(steps * sum_of_product<Dtype::bf16>(operands, row));
    case Dtype::u8:
      return static_cast<std::int32_t>(steps * sum_of_product<Dtype::u8>(operands, row));
    default:
      return static_cast<double>(steps * sum_of_product<Dtype::f32>(operands, row));
  }
}

}  // namespace league::ceilings
