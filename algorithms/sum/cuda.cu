// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/sum/cuda_sum.hpp"
#include "algorithms/sum/parts.hpp"

namespace league::cuda::sum {
namespace {

using league::sum::ArrayPart, league::sum::Partials;

__device__ void atomic_add(double* sum, double value) { atomicAdd(sum, value); }
__device__ void atomic_add(std::int64_t* sum, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

// A block takes one chunk after another; a thread every lanes-th pack of it.
template <class T>
__global__ void add_atomically(Chunks chunks, const T* x, Total<T>* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  Total<T> mine = 0;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks.count; chunk += gridDim.x)
    mine += lane_sum(x + chunk * chunks.chunk, chunks.size_of(chunk), lane, lanes);
  const Total<T> total = block_sum(mine);
  if (lane == 0) atomic_add(sum, total);
}

template <class T, Partials kind>
class Cuda final : public ArrayPart<Array, T> {
 public:
  Cuda(const Sum& problem, const Context& context, const Shard& shard)
      : ArrayPart<Array, T>(problem, context, shard, kind, [&]<class V>(const char*, std::int64_t size) {
          return Array<V>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override { return launch_ = sum::configure(launch, this->chunks_); }
  void accumulate() override {
    const cudaStream_t stream = cuda::stream(this->queue());
    if constexpr (kind == Partials::a_chunk) {
      two_stage<T>(launch_, stream, this->chunks_, this->x_.data(), this->target());
    } else {
      check(cudaMemsetAsync(this->target(), 0, sizeof(Total<T>), stream));
      add_atomically<<<static_cast<unsigned>(launch_.league), block_of(launch_), 0, stream>>>(
          this->chunks_, this->x_.data(), this->target());
      check_launch();
    }
  }
  void finish() override {
    add_partials<<<1, static_cast<unsigned>(league::sum::finish_team(this->all_)), 0, cuda::stream(this->queue())>>>(
        static_cast<int>(this->all_), this->partials_.data(), this->sum_.data());
    check_launch();
  }

 private:
  Launch launch_;
};

template <Partials kind>
std::unique_ptr<Prepared> prepare(const Sum& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(
      problem.dtype, [&]<class T>() { return league::sum::gathered<Cuda<T, kind>>(problem, context); });
}

const Register<Sum> two_stage_variant{"two_stage", cuda::model, prepare<Partials::a_chunk>};
const Register<Sum> atomic_variant{"atomic", cuda::model, prepare<Partials::a_shard>};

}  // namespace
}  // namespace league::cuda::sum
