// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/sum/common/lanes.hpp"
#include "algorithms/sum/common/shards.hpp"
#include "backends/host_pass.hpp"

/// What the sums in OpenMP share: the second stage, by one thread.
namespace league::openmp::sum {

using namespace league::sum;

template <class T>
void finish(const Pass&, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  *sum = host_lane_sum(partials, count);
}

inline Launch configure(Queue& queue, Launch launch, Chunks) { return Pass::resolve(queue, launch, {}, 0); }

}  // namespace league::openmp::sum
