// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/common/cuda.hpp"
#include "algorithms/sum/common/transfers.hpp"

namespace league::cuda::sum {
namespace {

// A block takes one chunk after another; a thread every lanes-th pack of it.
template <class T>
__global__ void add_chunks(Chunks chunks, const T* x, Total<T>* partials) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x) {
    const Total<T> total = block_sum(lane_sum(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes));
    if (lane == 0) partials[chunk] = total;
  }
}

template <class T>
void two_stage(const Pass& on, const Work<T>& work) {
  add_chunks<<<on.grid(), on.block(), 0, on.stream>>>(work.chunks, work.x, work.sums);
  check_launch();
}

constexpr auto kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
};

const RegisterSum variant{"two_stage", model, kernels};
const RegisterTransfers transfers{model, kernels};

}  // namespace
}  // namespace league::cuda::sum
