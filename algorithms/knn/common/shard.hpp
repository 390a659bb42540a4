// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "algorithms/blocks/k_best.hpp"
#include "algorithms/blocks/unrolled.hpp"
#include "algorithms/drivers/split.hpp"
#include "algorithms/knn/common/element.hpp"
#include "algorithms/knn/knn.hpp"

namespace league::knn {

/// A `Variant<T, Element>`: the type of the features, and their conversion for packing.
template <template <class, class> class Variant>
static std::unique_ptr<IndependentShard> by_element(const Knn& problem, const Context& context, const Shard& shard) {
  if (!problem.exact) return std::make_unique<Variant<float, blocks::PlainElement<float>>>(problem, context, shard);
  return with_type<float, std::int32_t, std::uint8_t>(
      problem.dtype, [&]<class T>() -> std::unique_ptr<IndependentShard> {
        return std::make_unique<Variant<T, Pixel<T>>>(problem, context, shard);
      });
}

/// Inputs and results of one shard: all training rows, its own rows to classify and results.
template <class T, template <class> class Array>
struct Memory {
  Memory(IndependentShard& shard, const Knn& problem)
      : n(problem.train.rows()),
        m(shard.rows().size()),
        features(problem.features),
        k(problem.k),
        votes(problem.votes) {
    const std::int64_t first = shard.rows().begin - problem.rows.begin;
    shard.input(train, "knn/train", problem.train.values<T>());
    shard.input(test, "knn/test", problem.test.values<T>(first, first + m));
    shard.input(train_labels, "knn/train_labels", problem.train_labels.values<std::int32_t>());
    shard.declare(labels, "knn/labels", m);
    shard.declare(neighbours, "knn/neighbours", m * k);
    shard.declare(distances, "knn/distances", m * k);
    shard.output(labels, Knn::labels);
    shard.output(neighbours, Knn::neighbours);
    shard.output(distances, Knn::distances);
  }

  /// A query's neighbours as a k-best list, nearest first.
  [[nodiscard]] blocks::KBest<double, std::int64_t> list(std::int64_t query) const {
    return {distances.data() + query * k, neighbours.data() + query * k, k, 1};
  }

  std::int64_t n, m, features;  ///< training rows, rows to classify
  int k;
  Votes votes;
  Array<T> train, test;  ///< [n x features], [m x features]
  Array<std::int32_t> train_labels, labels;
  Array<std::int64_t> neighbours;  ///< [m x k], nearest first
  Array<double> distances;         ///< [m x k]
};

/// Inserts into `best` the lists `first`, `first + step`, ... below `lists` of a query; no key above `within` can be
/// among the k best. Lists are sorted: most are skipped by their first key, several of which are loaded at a time; in
/// the others the first key above the threshold ends the list.
template <class Key, class List, class Best>
LEAGUE_FUNCTION void insert_lists(int first, int lists, int step, Key within, const List& list, const Best& best) {
  constexpr int ahead = 8;
  for (; first < lists; first += ahead * step) {
    Key heads[ahead];
    blocks::unrolled<ahead>([&](int i) {
      const int number = first + i * step;
      heads[i] = list(number < lists ? number : first).keys[0];
    });
    for (int i = 0; i < ahead && first + i * step < lists; ++i) {
      if (heads[i] > within || heads[i] > best.threshold()) continue;
      const auto mine = list(first + i * step);
      for (int entry = 0; entry < best.k; ++entry)
        if (!best.insert(mine.keys[entry * mine.stride], mine.indices[entry * mine.stride])) break;
    }
  }
}

/// Rows of a matrix kept in memory at once: all, or the largest multiple of `step` within `bytes`, at least `step`.
inline std::int64_t rows_at_once(std::int64_t rows, std::int64_t row_bytes, std::int64_t bytes, std::int64_t step = 1) {
  return std::min(rows, std::max(bytes / row_bytes / step, std::int64_t{1}) * step);
}

/// The same on a host, limited to about the cache size.
inline std::int64_t rows_near_caches(std::int64_t rows, std::int64_t row_bytes, std::int64_t bytes) {
  constexpr std::int64_t enough_bytes = 256 << 20;
  return rows_at_once(rows, row_bytes, std::min(bytes, enough_bytes));
}

}  // namespace league::knn
