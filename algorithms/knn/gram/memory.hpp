// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/common/shard.hpp"

namespace league::knn {

/// Memory of `gram`, for every library: rows as floats, as the other methods pack them, their squared norms, and the
/// products of a block of queries with all training rows.
template <class T, template <class> class Array>
struct GramMemory {
  GramMemory(IndependentShard& shard, const Knn& problem) : knn(shard, problem) {
    shard.declare(train, "knn/wide_train", knn.n * knn.features);
    shard.declare(test, "knn/wide_test", knn.m * knn.features);
    shard.declare(train_norms, "knn/train_norms", knn.n);
    shard.declare(test_norms, "knn/test_norms", knn.m);
    constexpr std::int64_t max_products = std::int64_t{1} << 31;  // per call
    at_once = rows_at_once(std::min(knn.m, std::max(max_products / knn.n, std::int64_t{1})), 4 * knn.n,
                           shard.ledger().left_bytes());
    shard.declare(products, "knn/products", at_once * knn.n);
  }
  /// Distances of the queries from `first` on, for the selection.
  template <class D>
  [[nodiscard]] Expanded<D> squared(std::int64_t first) const {
    return {products.data(), test_norms.data() + first, train_norms.data(), knn.n};
  }

  Memory<T, Array> knn;
  Array<float> train, test;
  Array<float> train_norms, test_norms;
  std::int64_t at_once;   ///< queries whose products are in memory
  Array<float> products;  ///< [at_once x n]
};

}  // namespace league::knn
