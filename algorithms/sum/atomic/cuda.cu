// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/cuda.hpp"

namespace league::cuda::sum {
namespace {

// A block takes one chunk after another; a thread every lanes-th pack of it.
template <class T>
__global__ void add_to_one(Chunks chunks, const T* x, Total<T>* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  Total<T> mine = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x)
    mine += lane_sum(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
  const Total<T> total = block_sum(mine);
  if (lane == 0) atomic_add(sum, total);
}

template <class T>
void atomic(const Pass& on, const Work<T>& work) {
  check(cudaMemsetAsync(work.sums, 0, sizeof(Total<T>), on.stream));
  add_to_one<<<on.grid(), on.block(), 0, on.stream>>>(work.chunks, work.x, work.sums);
  check_launch();
}

const RegisterSum variant{"atomic", model, []<class T>(Of<T>) {
                            return Kernels<Pass, T>{Partials::a_shard, configure, atomic<T>, finish<T>};
                          }};

}  // namespace
}  // namespace league::cuda::sum
