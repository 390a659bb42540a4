// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include "algorithms/blocks/k_best.hpp"
#include "algorithms/blocks/product_tile_host.hpp"
#include "algorithms/knn/part.hpp"
#include "backends/host_array.hpp"

namespace league::knn {

/// The distances of a query's neighbours as differences in double, then their order by them and their vote.
template <class T>
void vote_row(std::int64_t features, int k, Votes votes, const T* query, const T* train,
              const std::int32_t* train_labels, std::int64_t* neighbours, double* distances, std::int32_t& label) {
  for (int i = 0; i < k; ++i) {
    const std::int64_t neighbour = neighbours[i];
    double squared = 0;
    for (std::int64_t f = 0; f < features; ++f) {
      const double difference = static_cast<double>(query[f]) - static_cast<double>(train[neighbour * features + f]);
      squared += difference * difference;
    }
    const blocks::KBest<double, std::int64_t> sorted{distances, neighbours, i + 1, 1};
    distances[i] = sorted.none;
    sorted.insert(squared, neighbour);
  }
  for (int i = 0; i < k; ++i) distances[i] = std::sqrt(distances[i]);
  label = winner(votes, k, neighbours, distances, train_labels);
}

template <class T>
class HostPart : public KnnPart<T, host::Array> {
 protected:
  HostPart(const Knn& knn, const Context& context, const Shard& shard, std::int64_t more_bytes)
      : KnnPart<T, host::Array>(knn, context, shard, more_bytes, [&](const char*, auto& array, std::int64_t size) {
          array = std::remove_reference_t<decltype(array)>(context.runtime.queue(shard.device), size);
        }) {}

  void vote_all(int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t query = 0; query < this->m_; ++query)
      vote_row(this->features_, this->k_, this->votes_, this->test_.data() + query * this->features_,
               this->train_.data(), this->train_labels_.data(), this->neighbours_.data() + query * this->k_,
               this->distances_.data() + query * this->k_, this->labels_.data()[query]);
  }
};

}  // namespace league::knn
