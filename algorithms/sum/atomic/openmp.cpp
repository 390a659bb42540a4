// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/sum/common/openmp.hpp"

// A thread takes one block of consecutive chunks, and adds their sum to one value by an atomic.
namespace league::openmp::sum {
namespace {

template <class T>
void atomic(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
  Total<T>* sum = work.sums;
  *sum = 0;
#pragma omp parallel num_threads(on.threads)
  {
    Total<T> mine = 0;
#pragma omp for schedule(static) nowait
    for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk)
      mine += host_lane_sum(work.x + chunk * chunks.chunk, chunks.size_of(chunk));
#pragma omp atomic
    *sum += mine;
  }
}

const RegisterSum variant{"atomic", model, []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_shard, configure, atomic<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::openmp::sum
