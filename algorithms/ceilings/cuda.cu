// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/pack_cuda.hpp"
#include "algorithms/blocks/subgroup_cuda.hpp"
#include "algorithms/ceilings/packs.hpp"
#include "algorithms/ceilings/passes.hpp"
#include "backends/cuda/pass.hpp"

// A block takes a chunk of 16 KiB at a time, a thread every lanes-th pack of 16 bytes, four loads in flight before the
// four stores; for multiply_add, a thread takes one row of chains.
namespace league::cuda::ceilings {
namespace {

using namespace league::ceilings;

using blocks::Pack;
constexpr int packs = chunk_bytes / 16;  // per chunk
constexpr int at_once = 4;

template <class T>
__global__ void copy_chunks(std::int64_t chunks, const T* a, T* out) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const auto* from = reinterpret_cast<const Pack<T>*>(a) + chunk * packs;
    auto* to = reinterpret_cast<Pack<T>*>(out) + chunk * packs;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count];
      for (int k = 0; k < count; ++k) x[k] = from[p + k * lanes];
      for (int k = 0; k < count; ++k) blocks::store_streaming(to + p + k * lanes, x[k]);
    });
  }
}

/// The sum over the block, in thread 0. @pre the block is made of whole warps
template <class T>
__device__ T block_sum(int lane, int lanes, T sum) {
  __shared__ T partial[1024 / warp_size];
  sum = blocks::subgroup_sum(sum);
  __syncthreads();
  if (lane % warp_size == 0) partial[lane / warp_size] = sum;
  __syncthreads();
  if (lane == 0)
    for (int warp = 1; warp < lanes / warp_size; ++warp) sum += partial[warp];
  return sum;
}

template <class Terms, class T = typename Terms::Element>
__global__ void sum_chunks(std::int64_t chunks, const Terms terms, ChunkSum<T>* sums) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const Terms of_chunk = terms.from(chunk * chunk_size<T>);
    ChunkSum<T> sum = 0;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count];
      for (int k = 0; k < count; ++k) x[k] = of_chunk.template pack<Pack<T>>(p + k * lanes);
      for (int k = 0; k < count; ++k)
        for (const T value : x[k].values) sum += value;
    });
    sum = block_sum(lane, lanes, sum);
    if (lane == 0) sums[chunk] = sum;
  }
}

template <class T>
__global__ void write_chunks(std::int64_t chunks, std::int64_t first, T* out) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    auto* to = reinterpret_cast<Pack<T>*>(out) + chunk * packs;
    Pack<T> value;
    for (T& element : value.values) element = written<T>(first + chunk);
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      for (int k = 0; k < count; ++k) blocks::store_streaming(to + p + k * lanes, value);
    });
  }
}

/// out = combine(a, b), pack by pack.
template <class T, class Combine>
__global__ void combine_chunks(std::int64_t chunks, const T* a, const T* b, T* out, const Combine combine) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const auto* from_a = reinterpret_cast<const Pack<T>*>(a) + chunk * packs;
    const auto* from_b = reinterpret_cast<const Pack<T>*>(b) + chunk * packs;
    auto* to = reinterpret_cast<Pack<T>*>(out) + chunk * packs;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count], y[count];
      for (int k = 0; k < count; ++k) x[k] = from_a[p + k * lanes], y[k] = from_b[p + k * lanes];
      for (int k = 0; k < count; ++k) blocks::store_streaming(to + p + k * lanes, combine(x[k], y[k]));
    });
  }
}

template <class T>
__global__ void advance_rows(std::int64_t rows, std::int64_t first, T factor, T even, T odd, int steps, T* sums) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t row = std::int64_t{blockIdx.x} * lanes + lane; row < rows; row += std::int64_t{gridDim.x} * lanes) {
    T x[chains];
    for (int k = 0; k < chains; ++k) x[k] = start<T>(first + row, k);
    advance(x, factor, even, odd, steps);
    sums[row] = row_sum(x);
  }
}

template <class T>
void copy(const Pass& on, const T* a, T* out) {
  copy_chunks<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, out);
  check_launch();
}
template <class T>
void read(const Pass& on, const T* a, ChunkSum<T>* sums) {
  sum_chunks<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), Elements<T>{a}, sums);
  check_launch();
}
template <class T>
void dot(const Pass& on, const T* a, const T* b, T* sums) {
  sum_chunks<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), Products<T>{a, b}, sums);
  check_launch();
}
template <class T>
void write(const Pass& on, T* out) {
  write_chunks<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), on.rows.begin, out);
  check_launch();
}
template <class T>
void add(const Pass& on, const T* a, const T* b, T* out) {
  combine_chunks<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, out, Add());
  check_launch();
}
template <class T>
void triad(const Pass& on, const T* a, const T* b, T* out) {
  combine_chunks<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), a, b, out, Triad());
  check_launch();
}
template <class T>
void multiply_add(const Pass& on, T* sums) {
  advance_rows<<<on.grid(), on.block(), 0, on.stream>>>(on.size(), on.rows.begin, static_cast<T>(recurrence.factor),
                                                        static_cast<T>(recurrence.even), static_cast<T>(recurrence.odd),
                                                        recurrence.steps, sums);
  check_launch();
}

const BandwidthPass copied{
    "copy", model, {"a", "values"}, []<class T>(Of<T>) { return kernel("ceiling", copy<T>, {.per_team = 1}); }};
const BandwidthPass was_read{"read", model, {"a", "sums"}, []<class T>(Of<T>) {
                               return kernel("ceiling", read<T>, {.per_team = 1, .whole_warps = true});
                             }};
const BandwidthPass written_{
    "write", model, {"values"}, []<class T>(Of<T>) { return kernel("ceiling", write<T>, {.per_team = 1}); }};
const BandwidthPass added{
    "add", model, {"a", "b", "values"}, []<class T>(Of<T>) { return kernel("ceiling", add<T>, {.per_team = 1}); }};
const StreamPass triads{
    "triad", model, {"a", "b", "values"}, []<class T>(Of<T>) { return kernel("ceiling", triad<T>, {.per_team = 1}); }};
const StreamPass dots{"dot", model, {"a", "b", "sums"}, []<class T>(Of<T>) {
                        return kernel("ceiling", dot<T>, {.per_team = 1, .whole_warps = true});
                      }};
const RatePass multiplied{
    "multiply_add", model, {"sums"}, []<class T>(Of<T>) { return kernel("ceiling", multiply_add<T>); }};

}  // namespace
}  // namespace league::cuda::ceilings
