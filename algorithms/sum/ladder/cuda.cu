// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/blocks/items_cuda.hpp"
#include "algorithms/sum/common/cuda.hpp"
#include "algorithms/sum/ladder/kernel.hpp"

// The lower rungs of the ladder, from the first kernel that works to the one before `two_stage`.
namespace league::cuda::sum {
namespace {

// A block is one thread, and takes one chunk after another, element by element.
template <class T>
__global__ void add_alone(Chunks chunks, const T* x, Total<T>* partials) {
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x) {
    Total<T> sum = 0;
    for (int i = 0; i < chunks.size_of(chunk); ++i) sum += x[chunk * chunks.chunk + i];
    partials[chunk] = sum;
  }
}

// A thread takes every threads-th element, an atomic addition each.
template <class T>
__global__ void add_each(std::int64_t size, const T* x, Total<T>* sum) {
  blocks::for_items(size, [&](std::int64_t i) { atomic_add(sum, static_cast<Total<T>>(x[i])); });
}

// A block takes one chunk after another; a thread one element at a time, which a tree in shared memory adds.
template <class T, class Tree>
__global__ void add_by_tree(Chunks chunks, const T* x, Total<T>* partials) {
  extern __shared__ double scratch[];
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x) {
    const Total<T> total = tree_sum<Tree>(blocks::block_group(), x + chunk * chunks.chunk, chunks.size_of(chunk),
                                          reinterpret_cast<Total<T>*>(scratch));
    if (threadIdx.x == 0 && threadIdx.y == 0) partials[chunk] = total;
  }
}

// A block takes one chunk after another; a thread one element at a time, which shuffles add.
template <class T>
__global__ void add_by_shuffles(Chunks chunks, const T* x, Total<T>* partials) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x) {
    const T* from = x + chunk * chunks.chunk;
    const int size = chunks.size_of(chunk);
    Total<T> total = 0;
    for (int first = 0; first < size; first += lanes)
      total += block_sum(first + lane < size ? static_cast<Total<T>>(from[first + lane]) : 0);
    if (lane == 0) partials[chunk] = total;
  }
}

// A block takes one chunk after another; a thread adds every lanes-th element of it, then shuffles add the threads.
template <class T>
__global__ void add_several(Chunks chunks, const T* x, Total<T>* partials) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x) {
    Total<T> mine = 0;
    for (int i = lane; i < chunks.size_of(chunk); i += lanes) mine += x[chunk * chunks.chunk + i];
    const Total<T> total = block_sum(mine);
    if (lane == 0) partials[chunk] = total;
  }
}

template <class T>
void one_thread(const Pass& on, const Work<T>& work) {
  add_alone<<<on.grid(), on.block(), 0, on.stream>>>(work.chunks, work.x, work.sums);
  check_launch();
}

template <class T>
void atomic_per_element(const Pass& on, const Work<T>& work) {
  check(cudaMemsetAsync(work.sums, 0, sizeof(Total<T>), on.stream));
  add_each<<<on.grid(), on.block(), 0, on.stream>>>(work.chunks.size, work.x, work.sums);
  check_launch();
}

template <class T, class Tree>
void tree(const Pass& on, const Work<T>& work) {
  const std::size_t bytes = static_cast<std::size_t>(on.launch.team * on.launch.vector) * sizeof(Total<T>);
  add_by_tree<T, Tree><<<on.grid(), on.block(), bytes, on.stream>>>(work.chunks, work.x, work.sums);
  check_launch();
}

template <class T>
void shuffle(const Pass& on, const Work<T>& work) {
  add_by_shuffles<<<on.grid(), on.block(), 0, on.stream>>>(work.chunks, work.x, work.sums);
  check_launch();
}

template <class T>
void several_per_thread(const Pass& on, const Work<T>& work) {
  add_several<<<on.grid(), on.block(), 0, on.stream>>>(work.chunks, work.x, work.sums);
  check_launch();
}

/// @throws Unsupported unless a block is one thread
Launch configure_alone(Queue&, Launch launch, Chunks) {
  return resolve(launch, {1, 1, 1}, {1, 1, "a sum by one thread"});
}

/// A first stage that adds in double (integers: in 64 bits) all the way.
template <class T>
Kernels<Pass, T> rung(Partials kind, void (*accumulate)(const Pass&, const Work<T>&),
                      Launch (*launch)(Queue&, Launch, Chunks) = configure) {
  return {kind, launch, accumulate, finish<T>, Sum::any_order};
}

const RegisterSum variants[] = {
    {"one_thread", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, one_thread<T>, configure_alone); }},
    {"atomic_per_element", model, []<class T>(Of<T>) { return rung<T>(Partials::a_shard, atomic_per_element<T>); }},
    {"tree_divergent", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, tree<T, DivergentTree>); }},
    {"tree_sequential", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, tree<T, SequentialTree>); }},
    {"shuffle", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, shuffle<T>); }},
    {"several_per_thread", model, []<class T>(Of<T>) { return rung<T>(Partials::a_chunk, several_per_thread<T>); }}};

}  // namespace
}  // namespace league::cuda::sum
