// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/mma_native.hpp"
#include "algorithms/softmax_regression/common/cuda.hpp"
#include "algorithms/softmax_regression/mma/shard.hpp"

namespace league::softmax_regression::cuda_model {
namespace {

// A thread takes a block of 16 bytes.
template <class Unit, class T>
__global__ void pack(const MmaRows<Unit, T> rows) {
  for (std::int64_t number = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; number < rows.blocks();
       number += std::int64_t{gridDim.x} * blockDim.x)
    rows.pack(number);
}

// A block takes the weights of a class.
template <class Unit, int bytes>
__global__ void split(const MmaWork<Unit> work, typename Unit::Word* weights, int* constants, float* factors) {
  alignas(16) __shared__ char scratch[bytes];
  split_weights<Unit>(blocks::block_group(), work.descent, static_cast<int>(blockIdx.x), work.across, weights,
                      constants, factors, scratch);
}

// A block takes neighbouring rows of squares. With few features, a warp takes whole rows of squares by itself. Else,
// for the logits, a warp takes whole rows of squares; for the softmax, a thread per row; for the gradient, a warp some
// squares of features, whose sums stay in its registers.
template <class Unit, int slots>
__global__ void __launch_bounds__((MmaForm<Unit, slots>::threads), 1) mma(const MmaWork<Unit> work) {
  extern __shared__ Quad scratch[];
  const Descent& descent = work.descent;
  const auto group = blocks::block_group();
  const std::int64_t step = *descent.taken;
  if (blockIdx.x == 0 && group.rank == 0) *descent.current = step;
  double loss =
      MmaForm<Unit, slots>::take(group, work, step, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), scratch);
  if (blockIdx.x == 0) loss += descent.penalty(step, group.rank, group.size);
  group.barrier();
  store_loss(loss, work.losses, reinterpret_cast<double*>(scratch));
}

template <class Unit, class T>
class Mma final : public IterativeShard {
  using Memory = MmaMemory<Unit, T, cuda::Array>;

 public:
  Mma(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, problem) {}
  Launch configure(Launch launch) override {
    const cudaDeviceProp properties = cuda::properties(queue());
    const int bytes = memory_.scratch_bytes();
    cuda::require_scratch(properties, static_cast<std::size_t>(bytes), "the squares of this kernel");
    memory_.form(
        [&](auto slots) { cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(mma<Unit, slots>), bytes)); });
    return memory_.configure(launch, cuda::limits, properties.multiProcessorCount);
  }
  void begin() const override {
    clear_state(memory_.rows);
    const auto rows = memory_.packing();
    if (rows.blocks() == 0) return;
    constexpr int threads = 256;
    const auto blocks = std::min<std::int64_t>(ceil_div<std::int64_t>(rows.blocks(), threads), 1 << 20);
    pack<<<league_of(blocks), threads, 0, cuda::stream(queue())>>>(rows);
    cuda::check_launch();
  }
  void accumulate() const override {
    const Launch& launch = memory_.launch;
    const auto work = memory_.work();
    const cudaStream_t stream = cuda::stream(queue());
    memory_.form([&](auto slots) {
      if constexpr (slots == 0) {
        split<Unit, Memory::split_bytes><<<work.descent.classes, Memory::split_threads, 0, stream>>>(
            work, memory_.weights.data(), memory_.constants.data(), memory_.factors.data());
        cuda::check_launch();
      }
      mma<Unit, slots><<<launch.league, launch.team, memory_.scratch_bytes(), stream>>>(work);
      cuda::check_launch();
    });
    memory_.with_partials([&](const auto* partials) {
      add_partials(memory_.rows, partials, launch.league, memory_.losses.data(), launch.league);
    });
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override { take_step(memory_.rows); }

 private:
  Memory memory_;
};

const RegisterSolve<SoftmaxRegression> mma_variant{"mma", cuda::model, by_unit<blocks::mma::Native, Mma>};

}  // namespace
}  // namespace league::softmax_regression::cuda_model
