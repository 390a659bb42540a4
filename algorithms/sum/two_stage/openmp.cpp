// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/sum/common/openmp.hpp"

// A thread takes one block of consecutive chunks; one thread adds their sums.
namespace league::openmp::sum {
namespace {

template <class T>
void two_stage(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk)
    work.sums[chunk] = host_lane_sum(work.x + chunk * chunks.chunk, chunks.size_of(chunk));
}

const RegisterSum variant{"two_stage", model, []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::openmp::sum
