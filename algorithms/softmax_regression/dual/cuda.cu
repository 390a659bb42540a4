// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/softmax_regression/common/cuda.hpp"
#include "algorithms/softmax_regression/dual/shard.hpp"

namespace league::softmax_regression::cuda_model {
namespace {

constexpr int max_product_threads = 4 * cuda::warp_size;

// A block takes an element of K at a time.
template <class T>
__global__ void __launch_bounds__(max_product_threads) multiply_rows(const DualWork<T> work) {
  __shared__ double parts[max_product_threads];
  const auto block = blocks::block_group();
  const int rows = work.rows(), all = rows * rows;
  for (int i = static_cast<int>(blockIdx.x); i < all; i += static_cast<int>(gridDim.x)) {
    parts[block.rank] = work.product(i / rows, i % rows, block.rank, block.size);
    blocks::combine_in_scratch(block, parts, [](double a, double b) { return a + b; });
    if (block.rank == 0) work.gram[i] = parts[0];
    __syncthreads();
  }
}

// One block takes all steps, a thread takes one row and class at a time.
template <class T>
__global__ void __launch_bounds__(DualLimits::max_threads) dual(const DualWork<T> work) {
  extern __shared__ double dual_scratch[];
  take_dual_steps(blocks::block_group(), work, dual_scratch);
}

// A thread takes a parameter.
template <class T>
__global__ void add_rows(const DualWork<T> work, std::int64_t parameters) {
  const std::int64_t index = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (index < parameters) work.store_theta(index);
}

template <class T>
class Dual final : public IterativeShard {
 public:
  Dual(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, context, problem) {}
  Launch configure(Launch launch) override {
    cuda::require_scratch(cuda::properties(queue()), static_cast<std::size_t>(memory_.scratch_bytes()),
                          "the logits of all rows");
    cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(dual<T>), memory_.scratch_bytes()));
    return memory_.configure(launch, cuda::limits, cuda::warp_size);
  }
  void begin() const override {
    const auto league = static_cast<unsigned>(std::min<std::int64_t>(memory_.products(), max_league));
    multiply_rows<<<league, memory_.product_threads(cuda::warp_size), 0, cuda::stream(queue())>>>(memory_.work());
    cuda::check_launch();
  }
  void accumulate() const override {
    dual<<<1, memory_.launch.team, memory_.scratch_bytes(), cuda::stream(queue())>>>(memory_.work());
    cuda::check_launch();
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override {
    constexpr int threads = 128;
    const auto league = static_cast<unsigned>(ceil_div<std::int64_t>(memory_.parameters(), threads));
    add_rows<<<league, threads, 0, cuda::stream(queue())>>>(memory_.work(), memory_.parameters());
    cuda::check_launch();
  }

 private:
  DualMemory<T, cuda::Array> memory_;
};

const RegisterWholeSolve<SoftmaxRegression> dual_variant{"dual", cuda::model, by_type<Dual>};

}  // namespace
}  // namespace league::softmax_regression::cuda_model
