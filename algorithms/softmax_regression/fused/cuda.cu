// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/common/cuda.hpp"
#include "algorithms/softmax_regression/fused/shard.hpp"

namespace league::softmax_regression::cuda_model {
namespace {

using Words = blocks::NativeWords;

// A block takes every blocks-th tile of rows. For the logits, a thread takes four rows, five classes and a slice of the
// features; for the softmax, a row; for the gradient, four features, whose sums over the block's tiles stay in its
// registers. The weights are loaded into shared memory once, if they fit.
template <class T, bool weights_in_scratch>
__global__ void __launch_bounds__(max_threads, cuda::launch_bound(2)) fused(const FusedWork<T> work) {
  using Tile = Tile<T>;
  using Word = WordOf<T>;
  extern __shared__ Quad scratch[];
  const Descent& descent = work.descent;
  const int quads = descent.pitch / 4, pitch = Tile::pitch(quads);
  float* slots = reinterpret_cast<float*>(scratch);
  float* logits = slots + Tile::slots * Tile::slot_size;
  Word* tile = reinterpret_cast<Word*>(logits + Tile::rows * turn_pitch);
  const int threads = blockDim.y, thread = threadIdx.y;
  const int slice = Tile::slice(thread), slices = Tile::slice(threads);

  const std::int64_t step = *descent.taken;
  const Rows rows = descent.own_rows(step);
  double loss = blockIdx.x == 0 ? descent.penalty(step, thread, threads) : 0;
  if (blockIdx.x == 0 && thread == 0) *descent.current = step;
  Quad gradient[classes_together] = {};
  int places[Tile::thread_rows];
  for (int row = 0; row < Tile::thread_rows; ++row)
    places[row] = (Tile::group(thread) * Tile::thread_rows + row) * pitch;
  const Quad* weights = work.weights(0, Tile::half(thread));
  if constexpr (weights_in_scratch) {
    Quad* own = scratch + Tile::scratch_bytes(quads, descent.classes) / 16;
    if (thread < quads)
      for (int c = 0; c < classes_together; ++c)
        own[c * resident_pitch / 4 + thread] = work.weights(0, 0)[c * resident_pitch / 4 + thread];
    weights = own + Tile::half(thread) * Tile::thread_classes * resident_pitch / 4;
  }

  int tiles = 0;

  constexpr int half_tile = Column<T, Words>::rows;
  const auto fetch = [&](std::int64_t from) {
    Column<T, Words> column;
    const std::int64_t left = thread < quads ? rows.last - from : 0;
    column.fetch(work.words(from) + thread, blocks::recomputed(quads, from),
                 static_cast<int>(left < half_tile ? left : half_tile));
    return column;
  };
  const auto put = [&](int row, const Column<T, Words>& from) {
    if (thread < quads) from.put(tile + row * pitch + thread, pitch);
  };
  const auto gradient_from = [&](int row) {
    if (thread < quads)
      add_gradient<T, Words>(tile + row * pitch + thread, pitch, logits + row * turn_pitch, turn_pitch, half_tile,
                             gradient);
  };
  std::int64_t first = rows.first + std::int64_t{blockIdx.x} * Tile::rows;
  {
    const Column<T, Words> upper = fetch(first), lower = fetch(first + half_tile);
    put(0, upper);
    put(half_tile, lower);
  }
  for (const std::int64_t stride = std::int64_t{gridDim.x} * Tile::rows; first < rows.last; first += stride) {
    const int label = thread < Tile::rows && first + thread < rows.last ? work.labels[first + thread] : -1;
    __syncthreads();
    typename Tile::Logits z = {};
    if (slice < slices) add_logits<T, Words>(tile, places, weights, resident_pitch / 4, slice, slices, work.quads, z);
    for (int round = (slices - 1) / Tile::slots; round >= 0; --round) {
      if (slice < slices && slice / Tile::slots == round) put_logits<T>(z, thread, slices, slots);
      __syncthreads();
    }
    const Column<T, Words> upper = fetch(first + stride);
    sum_logits<T>(slots, slices, logits, turn_pitch, thread, threads);
    __syncthreads();
    if (thread < Tile::rows) loss += finish_turn(descent.classes, label, logits + thread * turn_pitch);
    __syncthreads();
    gradient_from(0);
    __syncthreads();
    put(0, upper);
    const Column<T, Words> lower = fetch(first + stride + half_tile);
    gradient_from(half_tile);
    if (thread < quads && ++tiles % (rows_together / Tile::rows) == 0)
      work.store(blockIdx.x, thread, tiles > rows_together / Tile::rows, gradient);
    __syncthreads();
    put(half_tile, lower);
  }
  if (thread < quads && (tiles == 0 || tiles % (rows_together / Tile::rows) != 0))
    work.store(blockIdx.x, thread, tiles > rows_together / Tile::rows, gradient);
  store_loss(loss, work.losses, reinterpret_cast<double*>(scratch));
}

// The same for more features or classes: rows are read from global memory, classes are taken in turns, and a tile's
// gradient is added to the block's in memory.
template <class T>
__global__ void __launch_bounds__(max_threads) fused_wide(const FusedWork<T> work) {
  using Tile = Tile<T>;
  using Word = WordOf<T>;
  extern __shared__ Quad scratch[];
  const Descent& descent = work.descent;
  const int quads = descent.pitch / 4, all_turns = turns(descent.classes), pitch = all_turns * turn_pitch;
  float* slots = reinterpret_cast<float*>(scratch);
  float* logits = slots + Tile::slots * Tile::slot_size;
  const int threads = blockDim.y, thread = threadIdx.y;
  const int slice = Tile::slice(thread), slices = Tile::slice(threads);

  const std::int64_t step = *descent.taken;
  const Rows rows = descent.own_rows(step);
  double loss = blockIdx.x == 0 ? descent.penalty(step, thread, threads) : 0;
  if (blockIdx.x == 0 && thread == 0) *descent.current = step;
  work.clear(blockIdx.x, thread, threads);

  for (std::int64_t first = rows.first + std::int64_t{blockIdx.x} * Tile::rows; first < rows.last;
       first += std::int64_t{gridDim.x} * Tile::rows) {
    const int count = static_cast<int>(min(std::int64_t{Tile::rows}, rows.last - first));
    const Word* x = work.words(first);
    int places[Tile::thread_rows];
    for (int row = 0; row < Tile::thread_rows; ++row)
      places[row] = min(Tile::group(thread) * Tile::thread_rows + row, count - 1) * quads;
    for (int turn = 0; turn < all_turns; ++turn) {
      typename Tile::Logits z = {};
      if (slice < slices)
        add_logits<T, Words>(x, places, work.weights(turn, Tile::half(thread)), quads, slice, slices, work.quads, z);
      for (int round = (slices - 1) / Tile::slots; round >= 0; --round) {
        if (slice < slices && slice / Tile::slots == round) put_logits<T>(z, thread, slices, slots);
        __syncthreads();
      }
      sum_logits<T>(slots, slices, logits + turn * turn_pitch, pitch, thread, threads);
      __syncthreads();
    }
    if (thread < Tile::rows)
      loss += finish_row(descent.classes, thread < count ? work.labels[first + thread] : -1, logits + thread * pitch);
    __syncthreads();
    for (int item = thread; item < all_turns * quads; item += threads) {
      Quad gradient[classes_together] = {};
      add_gradient<T, Words>(x + item % quads, quads, logits + item / quads * turn_pitch, pitch, count, gradient);
      work.add(blockIdx.x, item / quads, item % quads, gradient);
    }
    __syncthreads();
  }
  store_loss(loss, work.losses, reinterpret_cast<double*>(scratch));
}

template <class T>
class Fused final : public IterativeShard {
 public:
  Fused(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    const cudaDeviceProp properties = cuda::properties(queue());
    const Launch effective = memory_.configure(launch, cuda::limits, properties.multiProcessorCount);
    choose_kernel(properties);
    return effective;
  }
  void begin() const override { clear_state(memory_.rows); }
  void accumulate() const override {
    const int teams = memory_.plan.launch.league;
    kernel_<<<teams, dim3(1, memory_.plan.launch.team), scratch_bytes_, cuda::stream(queue())>>>(memory_.work());
    cuda::check_launch();
    memory_.with_partials(
        [&](const auto* partials) { add_partials(memory_.rows, partials, teams, memory_.losses.data(), teams); });
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override { take_step(memory_.rows); }

 private:
  /// Weights are kept in scratch if the device has enough, and teams are large: small ones would leave a multiprocessor
  /// few warps.
  void choose_kernel(const cudaDeviceProp& properties) {
    const Plan& plan = memory_.plan;
    const int with_weights = plan.scratch_bytes + weights_bytes;
    const bool fits =
        plan.launch.team > cuda::warp_size && static_cast<std::size_t>(with_weights) <= cuda::max_scratch(properties);
    kernel_ = !plan.resident ? fused_wide<T> : fits ? fused<T, true> : fused<T, false>;
    scratch_bytes_ = plan.resident && fits ? with_weights : plan.scratch_bytes;
    cuda::require_scratch(properties, static_cast<std::size_t>(scratch_bytes_),
                          "team size " + std::to_string(plan.launch.team));
    cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(kernel_), scratch_bytes_));
  }
  FusedMemory<T, cuda::Array> memory_;
  void (*kernel_)(FusedWork<T>) = nullptr;
  int scratch_bytes_ = 0;
};

const RegisterSolve<SoftmaxRegression> stepwise{"fused", cuda::model, by_type<Fused>};

}  // namespace
}  // namespace league::softmax_regression::cuda_model
