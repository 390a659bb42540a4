// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/cuda.hpp"

namespace league::cuda::logistic_regression {

/// A block adds `count` consecutive values.
[[maybe_unused]] static __global__ void add_rows_of(State state, std::int64_t count, const double* partials,
                                                    double* sums) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  add_values(block_group(), partials + blockIdx.x * count, count, scratch, [&](double sum) { sums[blockIdx.x] = sum; });
}

[[maybe_unused]] static __global__ void newton_once(Rule rule, State state) {
  extern __shared__ double scratch[];
  newton_step<device_solve_side>(block_group(), rule, state, scratch);
}

/// Adds the `count` partials of each sum of a Newton step, one block per sum.
template <class T>
void add_partials_of(const SolveMemory<Array, T>& memory, std::int64_t count) {
  const auto sums = static_cast<unsigned>(newton_sums(memory.features));
  add_rows_of<<<sums, small, bytes_of(scratch_size(1, small)), stream(memory.shard.queue())>>>(
      memory.state(), count, memory.partials.data(), memory.sums.data());
  check_launch();
}

/// Takes the Newton step from the sums.
template <class T>
void take_newton_step(const SolveMemory<Array, T>& memory) {
  constexpr int threads = device_solve_side * device_solve_side;
  newton_once<<<1, threads, bytes_of(newton_scratch<device_solve_side>(memory.features)),
                stream(memory.shard.queue())>>>(memory.rule, memory.state());
  check_launch();
}

}  // namespace league::cuda::logistic_regression
