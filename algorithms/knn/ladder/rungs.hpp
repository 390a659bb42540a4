// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/common/shard.hpp"

namespace league::knn {

/// From the first kernel that works: a thread per query, which keeps a list of the nearest; the distances in a matrix,
/// a thread per pair, from which a thread per query selects; a team per query selects; the training rows are
/// transposed, so that loads are coalesced; a tile of pairs shares its rows in scratch.
enum class Rung { query_per_thread, pair_per_thread, team_select, coalesced, scratch_tile };

/// Memory of a naive method.
template <class T, class Element, Rung rung, template <class> class Array>
struct NaiveMemory {
  using D = Distance<Element>;

  NaiveMemory(IndependentShard& shard, const Knn& problem) : knn(shard, problem), at_once(knn.m) {
    if (rung == Rung::coalesced) shard.declare(by_feature, "knn/by_feature", knn.n * knn.features);
    if (rung == Rung::query_per_thread) return;
    at_once = rows_at_once(knn.m, knn.n * static_cast<std::int64_t>(sizeof(D)), shard.ledger().left_bytes());
    shard.declare(matrix, "knn/matrix", at_once * knn.n);
  }
  /// Queries or pairs, of which a thread takes one at a time.
  [[nodiscard]] std::int64_t items() const {
    return rung == Rung::query_per_thread ? knn.m : std::min(at_once, knn.m) * knn.n;
  }
  /// For the selection by a team.
  [[nodiscard]] Stored<D> squared() const { return {matrix.data(), knn.n}; }

  Memory<T, Array> knn;
  std::int64_t at_once;  ///< queries whose distances are in the matrix
  Array<T> by_feature;
  Array<D> matrix;
};

}  // namespace league::knn
