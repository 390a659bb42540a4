// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>

#include "algorithms/knn/shard.hpp"
#include "backends/host_array.hpp"

namespace league::knn {

/// Distances of a query's neighbours from differences in double; then sorts by them, and votes.
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
void vote_all(const Memory<T, host::Array>& knn, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t query = 0; query < knn.m; ++query)
    vote_row(knn.features, knn.k, knn.votes, knn.test.data() + query * knn.features, knn.train.data(),
             knn.train_labels.data(), knn.neighbours.data() + query * knn.k, knn.distances.data() + query * knn.k,
             knn.labels.data()[query]);
}

}  // namespace league::knn
