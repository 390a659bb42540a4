// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/common/cuda.hpp"

// The passes of `unfused` over all rows: logits, residuals, gradient. A thread takes every
// (blocks x threads)-th pack of 4 rows (2 in f64), 8 features at a time.
namespace league::cuda::logistic_regression {

/// Calls `body(pack)` for the packs of a thread.
template <class T, class Body>
__device__ void for_packs(const Rows<T>& rows, const Body& body) {
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  const auto team = block_group();
  for (std::int64_t pack = std::int64_t{blockIdx.x} * team.size + team.rank; pack < packs;
       pack += std::int64_t{gridDim.x} * team.size)
    body(pack);
}

template <class T>
__global__ void logits_of(Rows<T> rows, State state, blocks::Pack<T, 16>* logits) {
  __shared__ T weights[LogisticRegression::max_features + 1];
  if (state.control[is_stopped] != 0) return;
  load_weights(state, rows.features, weights);
  for_packs(rows, [&](std::int64_t pack) { logits[pack] = pack_logits(rows, pack, weights); });
}

/// Logits to residuals, in place. `intercept` is added first, if the logits lack it.
template <class T>
__global__ void terms_of(Rows<T> rows, State state, bool add_intercept, blocks::Pack<T, 16>* logits, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  const T intercept = add_intercept ? static_cast<T>(state.theta[0]) : T{0};
  ThreadSum<T> mine[2];
  for_packs(rows, [&](std::int64_t pack) { logits[pack] = pack_terms(rows, pack, logits[pack], intercept, mine); });
  double* partial = partials + std::int64_t{blockIdx.x} * gradient_sums(rows.features);
  team_sums<2>(
      block_group(), [&](int i) { return mine[i].value(); }, scratch,
      [&](int i, int, double sum) { partial[i] = sum; });
}

template <class T>
__global__ void gradient_of(Rows<T> rows, State state, const blocks::Pack<T, 16>* residual, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  double* partial = partials + std::int64_t{blockIdx.x} * gradient_sums(rows.features) + 2;
  for (int d = 0; d < rows.features; d += features_per_pass) {
    ThreadSum<T> mine[features_per_pass];
    for_packs(rows, [&](std::int64_t pack) { pack_gradient(rows, pack, d, residual[pack], mine); });
    team_sums<features_per_pass>(
        block_group(), [&](int i) { return mine[i].value(); }, scratch,
        [&](int i, int, double sum) {
          if (d + i < rows.features) partial[d + i] = sum;
        });
  }
}

/// One block: adds the partials of all blocks. If a library has computed the gradient, `gradient` [features] replaces
/// them.
template <class T>
__global__ void finish_unfused(int features, State state, std::int64_t blocks, const double* partials,
                               const T* gradient, double* sums) {
  extern __shared__ double scratch[];
  const auto team = block_group();
  if (state.control[is_stopped] != 0) return;
  const int n = gradient_sums(features);
  add_partials(team, gradient == nullptr ? n : 2, blocks, n, partials, scratch, sums);
  for (int d = team.rank; gradient != nullptr && d < features; d += team.size)
    sums[d + 2] = static_cast<double>(gradient[d]);
}

/// Memory for our own kernels and for a library.
template <class T>
struct UnfusedMemory {
  UnfusedMemory(VariantShard& shard, const LogisticRegression& problem) : rows(shard, problem) {
    rows.declare_padded(residual, "logistic_regression/residual", rows.pitch);
  }
  Launch choose(Launch requested) {
    launch = resolve_for(rows.shard, requested, max_threads, 4, [](int threads) { return rows_at_once<T> * threads; });
    rows.declare_partials(launch.league, gradient_sums(rows.features));
    return launch;
  }
  [[nodiscard]] std::size_t scratch() const {
    return bytes_of(scratch_size(features_per_pass, launch.team * launch.vector));
  }
  [[nodiscard]] unsigned blocks() const { return static_cast<unsigned>(launch.league); }
  [[nodiscard]] blocks::Pack<T, 16>* packs() const { return reinterpret_cast<blocks::Pack<T, 16>*>(residual.data()); }

  SolveMemory<Array, T> rows;
  Launch launch;
  Array<T> residual;
};

template <class T>
void put_terms(const UnfusedMemory<T>& memory, bool add_intercept) {
  const SolveMemory<Array, T>& rows = memory.rows;
  terms_of<<<memory.blocks(), block_of(memory.launch), memory.scratch(), stream(rows.shard.queue())>>>(
      rows.all_rows(), rows.state(), add_intercept, memory.packs(), rows.partials.data());
  check_launch();
}

template <class T>
void finish(const UnfusedMemory<T>& memory, const T* gradient) {
  const SolveMemory<Array, T>& rows = memory.rows;
  const std::size_t bytes = bytes_of(scratch_size(gradient_sums(rows.features), max_threads));
  finish_unfused<<<1, max_threads, bytes, stream(rows.shard.queue())>>>(
      rows.features, rows.state(), memory.launch.league, rows.partials.data(), gradient, rows.sums.data());
  check_launch();
}

}  // namespace league::cuda::logistic_regression
