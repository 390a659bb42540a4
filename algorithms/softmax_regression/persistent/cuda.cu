// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/kept.hpp"
#include "algorithms/blocks/league_barrier_cuda.hpp"
#include "algorithms/blocks/words_native.hpp"
#include "algorithms/softmax_regression/common/cuda.hpp"
#include "algorithms/softmax_regression/persistent/shard.hpp"

namespace league::softmax_regression::cuda_model {
namespace {

/// Values of each thread in shared memory at once: 64 KB for 256 threads.
constexpr int most = 54;

// One grid takes all steps; blocks send each other their sums in stamped words, if there are several. All blocks must
// be on the device at once: the league is limited to what fits.
template <class T, int quads>
__global__ void __launch_bounds__(max_threads, cuda::launch_bound(teams_with_registers<quads>))
    all_steps(const PersistentWork<T> work) {
  extern __shared__ Quad persistent_scratch[];
  auto& own = *blocks::kept_shared<16>(reinterpret_cast<PersistentScratch<quads, most>*>(persistent_scratch));
  take_all_steps<blocks::NativeWords>(blocks::block_group(), blockIdx.x, gridDim.x, work, blocks::CudaAtomics{}, own);
}

template <class T>
class Persistent final : public IterativeShard {
 public:
  Persistent(const SoftmaxRegression& problem, const Context& context, const Shard& shard)
      : IterativeShard(context, shard), memory_(*this, context, problem) {}
  Launch configure(Launch launch) override {
    const cudaDeviceProp properties = cuda::properties(queue());
    with_quads(memory_.rows.problem, [&]<int quads>() {
      kernel_ = all_steps<T, quads>;
      scratch_bytes_ = sizeof(PersistentScratch<quads, most>);
    });
    const auto held = [&](Launch wanted) {
      cuda::require_scratch(properties, scratch_bytes_, "team size " + std::to_string(wanted.team));
      cuda::check(cuda::allow_scratch(reinterpret_cast<const void*>(kernel_), static_cast<int>(scratch_bytes_)));
      return blocks::blocks_at_once(queue(), wanted, scratch_bytes_, kernel_);
    };
    return memory_.configure(launch, max_threads, cuda::limits, properties.multiProcessorCount, held);
  }
  void begin() const override { memory_.board.clear(); }
  void accumulate() const override {
    kernel_<<<memory_.launch.league, dim3(1, memory_.launch.team), scratch_bytes_, cuda::stream(queue())>>>(
        memory_.work());
    cuda::check_launch();
  }
  [[nodiscard]] Buffer sums() const override { return buffer_of(memory_.rows.sums.data(), memory_.rows.sums.size()); }
  void update() const override {}

 private:
  PersistentMemory<T, cuda::Array> memory_;
  void (*kernel_)(PersistentWork<T>) = nullptr;
  std::size_t scratch_bytes_ = 0;
};

const RegisterWholeSolve<SoftmaxRegression> persistent{"persistent", cuda::model, by_type<Persistent>};

}  // namespace
}  // namespace league::softmax_regression::cuda_model
