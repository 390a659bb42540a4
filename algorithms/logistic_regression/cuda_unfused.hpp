// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/logistic_regression/cuda_part.hpp"

// The passes of `unfused`, all rows each: logits, what is left of the labels, gradient. A thread takes every
// (blocks x threads)-th pack of 4 rows (2 in f64), 8 features at a time.
namespace league::cuda::logistic_regression {

/// Calls `body(pack)` for the packs of a thread.
template <class T, class Body>
__device__ void for_packs(const Rows<T>& rows, const Body& body) {
  const std::int64_t packs = (rows.count + rows_at_once<T> - 1) / rows_at_once<T>;
  const auto team = block_lanes();
  for (std::int64_t pack = std::int64_t{blockIdx.x} * team.count + team.lane; pack < packs;
       pack += std::int64_t{gridDim.x} * team.count)
    body(pack);
}

template <class T>
__global__ void logits_of(Rows<T> rows, State state, blocks::Pack<T, 16>* logits) {
  __shared__ T weights[LogisticRegression::most_features + 1];
  if (state.control[is_stopped] != 0) return;
  load_weights(state, rows.features, weights);
  for_packs(rows, [&](std::int64_t pack) { logits[pack] = pack_logits(rows, pack, weights); });
}

/// In place. `intercept` is added to the logits first, where they came without it.
template <class T>
__global__ void terms_of(Rows<T> rows, State state, bool add_intercept, blocks::Pack<T, 16>* logits, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  const T intercept = add_intercept ? static_cast<T>(state.theta[0]) : T{0};
  ThreadSum<T> mine[2];
  for_packs(rows, [&](std::int64_t pack) { logits[pack] = pack_terms(rows, pack, logits[pack], intercept, mine); });
  double* partial = partials + std::int64_t{blockIdx.x} * gradient_sums(rows.features);
  team_sums<2>(
      block_lanes(), [&](int i) { return mine[i].value(); }, scratch,
      [&](int i, int, double sum) { partial[i] = sum; });
}

template <class T>
__global__ void gradient_of(Rows<T> rows, State state, const blocks::Pack<T, 16>* excess, double* partials) {
  extern __shared__ double scratch[];
  if (state.control[is_stopped] != 0) return;
  double* partial = partials + std::int64_t{blockIdx.x} * gradient_sums(rows.features) + 2;
  for (int d = 0; d < rows.features; d += features_a_pass) {
    ThreadSum<T> mine[features_a_pass];
    for_packs(rows, [&](std::int64_t pack) { pack_gradient(rows, pack, d, excess[pack], mine); });
    team_sums<features_a_pass>(
        block_lanes(), [&](int i) { return mine[i].value(); }, scratch,
        [&](int i, int, double sum) {
          if (d + i < rows.features) partial[d + i] = sum;
        });
  }
}

/// One block: the sums of all blocks; where a library has added up the gradient, `gradient` [features] instead of
/// theirs.
template <class T>
__global__ void finish_unfused(int features, State state, std::int64_t blocks, const double* partials,
                               const T* gradient, double* sums) {
  extern __shared__ double scratch[];
  const auto team = block_lanes();
  if (state.control[is_stopped] != 0) return;
  const int n = gradient_sums(features);
  add_partials(team, gradient == nullptr ? n : 2, blocks, n, partials, scratch, sums);
  for (int d = team.lane; gradient != nullptr && d < features; d += team.count)
    sums[d + 2] = static_cast<double>(gradient[d]);
}

/// What our own kernels and a library share.
template <class T>
class UnfusedPart : public CudaPart<T> {
 public:
  UnfusedPart(const LogisticRegression& problem, const Context& context, const Shard& shard)
      : CudaPart<T>(problem, context, shard, shard.rows.size() * std::int64_t{sizeof(T)}),
        excess_(this->queue(), this->pitch_) {}
  void upload() override {
    CudaPart<T>::upload();
    excess_.poison();  // a library leaves what lies behind the last row
  }
  void update() override { this->descend_alone(); }

 protected:
  Launch choose(Launch launch) {
    launch_ = this->resolve_for(launch, most_threads, 4, [](int threads) { return rows_at_once<T> * threads; });
    this->make_partials(launch_.league, gradient_sums(this->features_));
    return launch_;
  }
  [[nodiscard]] std::size_t scratch() const {
    return bytes_of(scratch_size(features_a_pass, launch_.team * launch_.vector));
  }
  [[nodiscard]] unsigned blocks() const { return static_cast<unsigned>(launch_.league); }
  void terms(bool add_intercept) {
    terms_of<<<blocks(), block_of(launch_), scratch(), stream(this->queue())>>>(
        this->all_rows(), this->state(), add_intercept, packs(), this->partials_.data());
    check_launch();
  }
  void finish(const T* gradient) {
    const std::size_t bytes = bytes_of(scratch_size(gradient_sums(this->features_), most_threads));
    finish_unfused<<<1, most_threads, bytes, stream(this->queue())>>>(
        this->features_, this->state(), launch_.league, this->partials_.data(), gradient, this->sums_.data());
    check_launch();
  }
  [[nodiscard]] blocks::Pack<T, 16>* packs() { return reinterpret_cast<blocks::Pack<T, 16>*>(excess_.data()); }
  Launch launch_;
  Array<T> excess_;
};

}  // namespace league::cuda::logistic_regression
