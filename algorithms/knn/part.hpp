// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/k_best.hpp"
#include "algorithms/budget.hpp"
#include "algorithms/knn/element.hpp"
#include "algorithms/knn/knn.hpp"
#include "algorithms/split.hpp"

namespace league::knn {

/// Calls `body.template operator()<T, Element>()` with the type of the features and what packing makes of them.
template <class Body>
std::unique_ptr<Prepared> with_element(const Knn& problem, const Body& body) {
  if (!problem.exact) return body.template operator()<float, blocks::PlainElement<float>>();
  return with_type<float, std::int32_t, std::uint8_t>(
      problem.dtype, [&]<class T>() { return body.template operator()<T, Pixel<T>>(); });
}

/// Inputs and outputs of one shard: the training rows whole, the rows to classify and the results its own.
/// `ArrayOf<T>` is an array of the model's device, made by `make(label, size)`.
template <class T, template <class> class ArrayOf>
class KnnPart : public Part {
 protected:
  template <class Make>
  KnnPart(const Knn& knn, const Context& context, const Shard& shard, std::int64_t more_bytes, const Make& make)
      : Part(context, shard),
        n(knn.train.rows()),
        m(shard.rows.size()),
        features(knn.features),
        k(knn.k),
        votes(knn.votes),
        budget_bytes(context.memory_budget_bytes),
        bytes((n + m) * features * static_cast<std::int64_t>(sizeof(T)) + 4 * n + m * (4 + 16 * k) + more_bytes) {
    require_memory(bytes, budget_bytes);
    make("knn/train", train, n * features);
    make("knn/test", test, m * features);
    make("knn/train_labels", train_labels, n);
    make("knn/labels", labels, m);
    make("knn/neighbours", neighbours, m * k);
    make("knn/distances", distances, m * k);
    input(train, knn.train.values<const T>());
    input(test, knn.test.values<const T>(rows().begin, rows().end));
    input(train_labels, knn.train_labels.values<const std::int32_t>());
    output(labels, Knn::labels);
    output(neighbours, Knn::neighbours);
    output(distances, Knn::distances);
  }

  /// A query's neighbours as a list of the k best, nearest first.
  [[nodiscard]] blocks::KBest<double, std::int64_t> list(std::int64_t query) const {
    return {distances.data() + query * k, neighbours.data() + query * k, k, 1};
  }

  std::int64_t n, m, features;  ///< training rows, rows to classify
  int k;
  Votes votes;
  std::int64_t budget_bytes, bytes;  ///< that may be taken, that are taken
  ArrayOf<T> train, test;            ///< [n x features], [m x features]
  ArrayOf<std::int32_t> train_labels, labels;
  ArrayOf<std::int64_t> neighbours;  ///< [m x k], nearest first; so are their
  ArrayOf<double> distances;         ///< [m x k]
};

}  // namespace league::knn
