// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/softmax_regression/common/memory.hpp"
#include "backends/cuda/cuda.hpp"

namespace league::softmax_regression::cuda_model {

inline constexpr int columns_together = 32,
                     summands_together = 16;  // 128 bytes of floats (coalesced); partial sums read at once
inline constexpr int of_thread_together = 9;  // of these, by a thread: all that 144 teams leave it

// A block takes neighbouring columns; a thread every `summands_together`-th partial sum of one column.
/// Adds the `count` partial gradients and the `losses`, in an order that depends on their number only; then takes the
/// step, or writes `sums` for the all-reduce.
template <class Partial>
__global__ void __launch_bounds__(columns_together* summands_together, cuda::launch_bound(2))
    finish(const Descent descent, const Partial* partials, int count, const double* losses, int losses_count,
           double* sums) {
  __shared__ double parts[summands_together][columns_together];
  const int lane = threadIdx.x % columns_together, part = threadIdx.x / columns_together;
  const int column = blockIdx.x * columns_together + lane, columns = descent.columns(), values = columns - 1;
  const auto sum_of = [part](int all, const auto& value) {
    return sum_of_part<of_thread_together>(part, summands_together, all, value);
  };
  double sum = 0;
  Descent::Before before{};
  if (part == 0 && column < columns) before = descent.before(column);
  if (column < values)
    sum = sum_of(count, [&](int i) { return partials[std::int64_t{i} * values + column]; });
  else if (column == values)
    sum = sum_of(losses_count, [&](int i) { return losses[i]; });
  parts[part][lane] = sum;
  __syncthreads();
  if (part != 0 || column >= columns) return;
  for (int i = 1; i < summands_together; ++i) sum += parts[i][lane];
  if (sums != nullptr)
    sums[column] = sum;
  else
    descent.take(column, sum, before);
}

// A thread takes a column.
template <class Sum>
__global__ void take(const Descent descent, const Sum* sums) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < descent.columns()) descent.take(column, sums[column]);
}

/// Reduces the losses of the threads of a block. @pre scratch holds a double for each of them
inline __device__ void store_loss(double loss, double* losses, double* scratch) {
  const auto block = blocks::block_group();
  scratch[block.rank] = loss;
  blocks::combine_in_scratch(block, scratch, [](double a, double b) { return a + b; });
  if (block.rank == 0) losses[blockIdx.x] = scratch[0];
}

/// Adds the partial gradients of a step, and takes the step if there is only one shard.
template <class M, class Partial>
void add_partials(const M& memory, const Partial* partials, int count, const double* losses, int losses_count) {
  const Descent descent = memory.descent();
  finish<<<ceil_div(descent.columns(), columns_together), columns_together * summands_together, 0,
           cuda::stream(memory.shard.queue())>>>(descent, partials, count, losses, losses_count, memory.shared_sums());
  cuda::check_launch();
}

/// Sets the initial state.
template <class M>
void clear_state(const M& memory) {
  memory.theta.clear();
  memory.weights.clear();
  memory.taken.clear();
}

/// Takes the step with the sums of all shards.
template <class M>
void take_step(const M& memory) {
  if (memory.shard.is_alone()) return;  // done by `add_partials`
  constexpr int threads = 256;
  const Descent descent = memory.descent();
  take<<<ceil_div(descent.columns(), threads), threads, 0, cuda::stream(memory.shard.queue())>>>(descent,
                                                                                                 memory.sums.data());
  cuda::check_launch();
}

}  // namespace league::softmax_regression::cuda_model
