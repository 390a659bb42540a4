// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/openmp/openmp.hpp"

#include "algorithms/sum/common/shards.hpp"
#include "backends/host_pass.hpp"

// A thread takes one block of consecutive chunks; one thread adds their sums, or each adds its own atomically.
namespace league::openmp::sum {
namespace {

using namespace league::sum;

template <class T>
void two_stage(const Pass& on, const Work<T>& work) {
  const Chunks chunks = work.chunks;
#pragma omp parallel for num_threads(on.threads) schedule(static)
  for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk)
    work.sums[chunk] = host_lane_sum(work.x + chunk * chunks.chunk, chunks.size_of(chunk));
}

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

template <class T>
void finish(const Pass&, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  *sum = host_lane_sum(partials, count);
}

Launch configure(Queue& queue, Launch launch, Chunks) { return Pass::resolve(queue, launch, {}, 0); }

const RegisterSum two_stage_variant{"two_stage", model, []<class T>(Of<T>) {
                                      return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
                                    }};
const RegisterSum atomic_variant{"atomic", model, []<class T>(Of<T>) {
                                   return Kernels<Pass, T>{Partials::a_shard, configure, atomic<T>, finish<T>};
                                 }};

}  // namespace
}  // namespace league::openmp::sum
