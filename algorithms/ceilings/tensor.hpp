// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "backends/array.hpp"
#include "backends/portable.hpp"

/// The work of the tensor methods: a row of the output is the sum of all elements of C [16 x 64] after `steps` times
/// C += A B. All elements of A are `left(row)`, all of B `right(row)`. 16 rows side by side are a product [64 x 256]:
/// four values of A, four of B.
namespace league::ceilings {

inline constexpr int tensor_rows = 16, tensor_columns = 64, tensor_sums = tensor_rows * tensor_columns;
inline constexpr int rows_side_by_side = 16;

/// Elements in which a row of A meets a column of B: 32 bytes of them.
constexpr int tensor_depth(Dtype dtype) { return 32 / static_cast<int>(size_bytes(dtype)); }

/// From 1 to 4, so that all sums are integers of few bits, exact in every type and order.
LEAGUE_FUNCTION int left(std::int64_t row) { return 1 + static_cast<int>(row / 4 % 4); }
LEAGUE_FUNCTION int right(std::int64_t row) { return 1 + static_cast<int>((row % 4 + row / rows_side_by_side) % 4); }

}  // namespace league::ceilings
