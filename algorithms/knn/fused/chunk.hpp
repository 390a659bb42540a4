// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>

#include "backends/launch.hpp"

/// How `fused` shares its work, in every model.
namespace league::knn {

/// `ordered` of infinity: the initial threshold of a query.
inline constexpr std::int32_t unlimited = 0x7f800000;

/// A team of the merge: 32 queries, and the threads that share one. Merging long lists in slices adds work, which pays
/// if there are few queries.
inline constexpr int merge_queries = 32;
inline int merge_slices(std::int64_t queries, int k) { return queries * k < (1 << 19) ? 8 : 1; }

/// Training rows per work item: small items balance the load of the multiprocessors (tail); long lists need fewer.
/// Smaller ones where there are few `queries`, so that half of the multiprocessors have one. Half as large for 8 to 15
/// rounds of items, of which the tail would be a noticeable part, if there are so many `features` that the fixed cost
/// of an item is small beside its products.
/// `usual` rows, of tiles of `rows` queries.
inline int default_chunk(int k, std::int64_t train, std::int64_t queries, std::int64_t features,
                         std::int64_t multiprocessors, int usual = 512, std::int64_t rows = 128) {
  int chunk = std::max(usual, 64 * k);
  const std::int64_t tiles = ceil_div(queries, rows);
  const auto items = [&] { return tiles * ceil_div<std::int64_t>(train, chunk); };
  const std::int64_t rounds = items() / (2 * multiprocessors);  // two teams on each
  if (features >= 512 && rounds >= 8 && rounds < 16) chunk /= 2;
  while (chunk / 2 >= std::max(128, 16 * k) && 2 * items() < multiprocessors) chunk /= 2;
  return chunk;
}

}  // namespace league::knn
