// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/product_tile.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "backends/launch.hpp"

namespace league::knn {

inline constexpr int side = 4;           ///< of the square of distances per lane
inline constexpr int max_threads = 512;  ///< per team, so that the square stays in registers

/// The launch of the selection, whatever that of the distances: a team per query, of more threads for long rows, or
/// where few queries leave multiprocessors idle.
inline Launch selection_launch(std::int64_t queries, std::int64_t train_rows) {
  const std::int64_t long_rows = queries < 128 ? 1024 : 4096;
  return {league_of(queries), train_rows > long_rows ? 256 : 128, 1};
}

/// Memory of `direct` on a GPU: packed rows, and the matrix of distances of a block of queries.
template <class T, class Element, template <class> class Array>
struct DirectMemory {
  using D = Distance<Element>;

  DirectMemory(IndependentShard& shard, const Knn& problem)
      : knn(shard, problem), train_panels(knn.n, knn.features), test_panels(knn.m, knn.features) {
    shard.declare(train, "knn/packed_train", train_panels.size());
    shard.declare(test, "knn/packed_test", test_panels.size());
    shard.declare(norms, "knn/norms", std::max(train_panels.rows, test_panels.rows));
    at_once = rows_at_once(test_panels.rows, train_panels.rows * static_cast<std::int64_t>(sizeof(D)),
                           shard.ledger().left_bytes(), side);
    shard.declare(matrix, "knn/matrix", at_once * train_panels.rows);
  }
  /// Default: four threads of a whole subgroup of `lanes` lanes, more and narrower ones where that makes fewer than
  /// `teams` teams.
  [[nodiscard]] Launch configure(Launch launch, int lanes, std::int64_t teams) const {
    const bool many = items({0, 4, lanes}) >= teams;
    launch =
        resolve(launch, many ? Launch{0, 4, lanes} : Launch{0, 16, lanes / 2}, {max_threads, lanes, "this kernel"});
    launch.tile = side;
    if (launch.league == 0) launch.league = league_of(items(launch));
    return launch;
  }
  /// Of a block of queries.
  [[nodiscard]] std::int64_t items(Launch launch) const {
    return ceil_div<std::int64_t>(train_panels.rows, side * launch.vector) *
           ceil_div<std::int64_t>(std::min(at_once, knn.m), side * launch.team);
  }
  /// For the selection.
  [[nodiscard]] Stored<D> squared() const { return {matrix.data(), train_panels.rows}; }

  Memory<T, Array> knn;
  blocks::Panels train_panels, test_panels;
  Array<typename Element::Packed> train, test;
  Array<float> norms;
  std::int64_t at_once;  ///< queries whose distances are in the matrix
  Array<D> matrix;       ///< [at_once x train panels' rows]
};

}  // namespace league::knn
