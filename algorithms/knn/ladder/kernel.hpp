// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/pairs.hpp"
#include "algorithms/knn/ladder/rungs.hpp"

/// The naive methods on a GPU, the same in CUDA and Kokkos: what a thread takes, and what it reads. Distances of pixels
/// are exact integers, others floats.
namespace league::knn {

/// Arguments of the kernels, for the queries from `first` on.
template <class T, class D>
struct NaiveWork {
  std::int64_t n, features, first, queries;
  int k;
  const T *test, *train;
  T* by_feature;             ///< the training rows transposed, [features x n]
  D* matrix;                 ///< squared distances [queries x n]
  double* keys;              ///< [all queries x k]
  std::int64_t* neighbours;  ///< [all queries x k]

  [[nodiscard]] LEAGUE_FUNCTION std::int64_t pairs() const { return queries * n; }
  /// A query, and a training row; null beyond the last.
  [[nodiscard]] LEAGUE_FUNCTION const T* x(std::int64_t query) const {
    return query < queries ? test + (first + query) * features : nullptr;
  }
  [[nodiscard]] LEAGUE_FUNCTION const T* y(std::int64_t row) const {
    return row < n ? train + row * features : nullptr;
  }
  [[nodiscard]] LEAGUE_FUNCTION blocks::KBest<double, std::int64_t> list(std::int64_t query) const {
    return {keys + (first + query) * k, neighbours + (first + query) * k, k, 1};
  }
  LEAGUE_FUNCTION void store(std::int64_t query, std::int64_t row, D squared) const {
    if (query < queries && row < n) matrix[query * n + row] = squared;
  }

  /// The nearest training rows of a query, by insertion into a sorted list in memory.
  LEAGUE_FUNCTION void search(std::int64_t query) const {
    const auto nearest = list(query);
    nearest.clear();
    for (std::int64_t row = 0; row < n; ++row)
      nearest.insert(blocks::squared_distance<D>(features, x(query), 1, y(row), 1), row);
  }
  /// The distance of a pair: neighbouring threads take neighbouring training rows, which are a row apart in memory;
  /// transposed, they are neighbours.
  template <Rung rung>
  LEAGUE_FUNCTION void compare(std::int64_t pair) const {
    const std::int64_t query = pair / n, row = pair % n;
    if constexpr (rung == Rung::coalesced)
      store(query, row, blocks::squared_distance<D>(features, x(query), 1, by_feature + row, n));
    else
      store(query, row, blocks::squared_distance<D>(features, x(query), 1, y(row), 1));
  }
  /// Transposes element `at` of the training rows.
  LEAGUE_FUNCTION void transpose(std::int64_t at) const { by_feature[at % features * n + at / features] = train[at]; }
  /// Tile `item` of the matrix, one pair per thread, the rows through scratch. @pre all threads call
  template <class Group>
  LEAGUE_FUNCTION void compare_tile(blocks::PairTile tile, std::int64_t item, const Group& group, D* scratch) const {
    const std::int64_t query = item / tile.across(n) * tile.high, row = item % tile.across(n) * tile.wide;
    const D squared = tile.squared_distance(
        group, features, [&](int i) { return x(query + i); }, [&](int j) { return y(row + j); }, scratch);
    store(query + group.rank / tile.wide, row + group.rank % tile.wide, squared);
  }
  /// The nearest training rows of a query out of the matrix, by insertion.
  LEAGUE_FUNCTION void select(std::int64_t query) const {
    const auto nearest = list(query);
    nearest.clear();
    for (std::int64_t row = 0; row < n; ++row) nearest.insert(matrix[query * n + row], row);
  }
};

/// `limits` of the model. @throws Unsupported beyond them
template <class T, class Element, Rung rung, template <class> class Array>
Launch naive_launch(const NaiveMemory<T, Element, rung, Array>& memory, Launch launch, const LaunchLimits& limits) {
  const int edge = 16, queries = 64, pairs = 256;
  if (rung == Rung::scratch_tile)
    return blocks::launch_for_tiles<Distance<Element>>(launch, limits, edge, std::min(memory.at_once, memory.knn.m),
                                                       memory.knn.n);
  return blocks::launch_for_items(launch, limits, rung == Rung::query_per_thread ? queries : pairs, memory.items());
}

/// Of `queries` queries from `first` on.
template <class T, class Element, Rung rung, template <class> class Array>
NaiveWork<T, Distance<Element>> naive_work(const NaiveMemory<T, Element, rung, Array>& memory, std::int64_t first,
                                           std::int64_t queries) {
  const auto& knn = memory.knn;
  return {knn.n,
          knn.features,
          first,
          queries,
          knn.k,
          knn.test.data(),
          knn.train.data(),
          memory.by_feature.data(),
          memory.matrix.data(),
          knn.distances.data(),
          knn.neighbours.data()};
}

/// A naive method on one shard. `Model` submits the kernels of its language: `search(work)`, `transpose(work)`,
/// `compare(work)`, `select(work)`, `vote()`.
template <class Model, Rung rung>
void compute_naive(const Model& model, Queue& queue, Stages& stages) {
  const auto& memory = model.memory;
  if constexpr (rung == Rung::query_per_thread)
    stages.stage(queue, "search", [&] { model.search(naive_work(memory, 0, memory.knn.m)); });
  if constexpr (rung == Rung::coalesced)
    stages.stage(queue, "transpose", [&] { model.transpose(naive_work(memory, 0, 0)); });
  if constexpr (rung != Rung::query_per_thread)
    for (std::int64_t first = 0; first < memory.knn.m; first += memory.at_once) {
      const auto work = naive_work(memory, first, std::min(memory.at_once, memory.knn.m - first));
      stages.stage(queue, "distance", [&] { model.compare(work); });
      stages.stage(queue, "select", [&] { model.select(work); });
    }
  stages.stage(queue, "vote", [&] { model.vote(); });
}

}  // namespace league::knn
