// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/sums_cuda.hpp"
#include "algorithms/sum/transfers.hpp"
#include "backends/cuda/pass.hpp"

namespace league::cuda::sum {
namespace {

using namespace league::sum;

/// The sum over a block, in thread 0. @pre whole warps
template <class V>
__device__ V block_sum(V mine) {
  return blocks::block_sums(blocks::Sums<V, 1>{{mine}}).values[0];
}

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

__device__ void atomic_add(double* sum, double value) { atomicAdd(sum, value); }
__device__ void atomic_add(std::int64_t* sum, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

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

// One block takes all partial sums.
template <class V>
__global__ void add_partials(int count, const V* partials, V* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const V total = block_sum(lane_sum(partials, count, lane, lanes));
  if (lane == 0) *sum = total;
}

template <class T>
void finish(const Pass& on, int count, const Total<T>* partials, Total<T>* sum, const Work<T>&) {
  add_partials<<<1, static_cast<unsigned>(finish_team(count)), 0, on.stream>>>(count, partials, sum);
  check_launch();
}

/// @throws Unsupported unless a block is made of whole warps
Launch configure(Queue&, Launch launch, Chunks chunks) {
  launch = resolve(launch, {0, 256, 1}, limits);
  if (launch.team * launch.vector % warp_size != 0)
    throw Unsupported("team size x vector length " + std::to_string(launch.team * launch.vector) +
                      ": this sum needs a multiple of " + std::to_string(warp_size));
  if (launch.league == 0) launch.league = league_of(chunks.count);
  return launch;
}

constexpr auto chunk_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_chunk, configure, two_stage<T>, finish<T>};
};
constexpr auto atomic_kernels = []<class T>(Of<T>) {
  return Kernels<Pass, T>{Partials::a_shard, configure, atomic<T>, finish<T>};
};

const RegisterSum two_stage_variant{"two_stage", model, chunk_kernels};
const RegisterSum atomic_variant{"atomic", model, atomic_kernels};
const RegisterTransfers transfers{model, chunk_kernels};

}  // namespace
}  // namespace league::cuda::sum
