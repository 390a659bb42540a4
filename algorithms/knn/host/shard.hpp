// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/knn/common/select.hpp"
#include "algorithms/knn/common/shard.hpp"
#include "backends/host_array.hpp"

namespace league::knn {

template <class T>
void vote_all(const Memory<T, host::Array>& knn, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t query = 0; query < knn.m; ++query)
    measure_and_vote(0, 1, static_cast<int>(knn.features), knn.test.data() + query * knn.features, knn.train.data(),
                     knn.k, knn.votes, knn.train_labels.data(), knn.neighbours.data() + query * knn.k,
                     knn.distances.data() + query * knn.k, knn.labels.data() + query, [](double mine) { return mine; });
}

}  // namespace league::knn
