// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

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
        n_(knn.train.rows()),
        m_(shard.rows.size()),
        features_(knn.features),
        k_(knn.k),
        votes_(knn.votes),
        budget_bytes_(context.memory_budget_bytes),
        bytes_((n_ + m_) * features_ * static_cast<std::int64_t>(sizeof(T)) + 4 * n_ + m_ * (4 + 16 * k_) +
               more_bytes) {
    require_memory(bytes_, budget_bytes_);
    make("knn/train", train_, n_ * features_);
    make("knn/test", test_, m_ * features_);
    make("knn/train_labels", train_labels_, n_);
    make("knn/labels", labels_, m_);
    make("knn/neighbours", neighbours_, m_ * k_);
    make("knn/distances", distances_, m_ * k_);
    input(train_, knn.train.values<const T>());
    input(test_, knn.test.values<const T>(rows().begin, rows().end));
    input(train_labels_, knn.train_labels.values<const std::int32_t>());
    output(labels_, Knn::labels);
    output(neighbours_, Knn::neighbours);
    output(distances_, Knn::distances);
  }

  /// A query's neighbours as a list of the k best, nearest first.
  [[nodiscard]] blocks::KBest<double, std::int64_t> list(std::int64_t query) const {
    return {distances_.data() + query * k_, neighbours_.data() + query * k_, k_, 1};
  }

  std::int64_t n_, m_, features_;  ///< training rows, rows to classify
  int k_;
  Votes votes_;
  std::int64_t budget_bytes_, bytes_;  ///< that may be taken, that are taken
  ArrayOf<T> train_, test_;            ///< [n x features], [m x features]
  ArrayOf<std::int32_t> train_labels_, labels_;
  ArrayOf<std::int64_t> neighbours_;  ///< [m x k], nearest first, and theirs:
  ArrayOf<double> distances_;         ///< [m x k]
};

/// Rows of a distance matrix on a host: what the budget allows, and no more than stays near the caches.
inline std::int64_t rows_at_once(std::int64_t queries, std::int64_t row_bytes, std::int64_t taken_bytes,
                                 std::int64_t budget_bytes) {
  require_memory(taken_bytes + row_bytes, budget_bytes);
  constexpr std::int64_t enough_bytes = 256 << 20;
  return std::clamp<std::int64_t>(std::min(budget_bytes - taken_bytes, enough_bytes) / row_bytes, 1,
                                  std::max<std::int64_t>(queries, 1));
}

}  // namespace league::knn
