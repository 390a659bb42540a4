// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/split.hpp"
#include "algorithms/vector_add/vector_add.hpp"
#include "algorithms/vector_add/wide.hpp"
#include "backends/cuda/cuda.hpp"

namespace league {
namespace {

// A block takes blockDim consecutive elements at a time, a thread one.
template <class T>
__global__ void add_plain(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < n; i += std::int64_t{gridDim.x} * lanes)
    sum[i] = a[i] + b[i];
}

template <class T>
__global__ void fill_index(std::int64_t n, std::int64_t first, T* index) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * lanes + lane; i < n; i += std::int64_t{gridDim.x} * lanes)
    index[i] = static_cast<T>(first + i);
}

// A block takes blockDim x packs_a_lane packs of 16 bytes at a time, a thread every blockDim-th of them, all loads first.
template <class T>
__global__ void add_wide(std::int64_t n, const T* a, const T* b, T* sum) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  const auto* packs_a = reinterpret_cast<const Pack<T>*>(a);
  const auto* packs_b = reinterpret_cast<const Pack<T>*>(b);
  auto* packs_sum = reinterpret_cast<Pack<T>*>(sum);
  const std::int64_t packs = n / Pack<T>::size, block = std::int64_t{lanes} * packs_a_lane;
  for (std::int64_t first = blockIdx.x * block; first < packs; first += gridDim.x * block) {
    const std::int64_t mine = first + lane;
    if (first + block <= packs) {
      Pack<T> x[packs_a_lane], y[packs_a_lane];
      for (int k = 0; k < packs_a_lane; ++k) x[k] = packs_a[mine + k * lanes], y[k] = packs_b[mine + k * lanes];
      for (int k = 0; k < packs_a_lane; ++k) packs_sum[mine + k * lanes] = x[k] + y[k];
    } else {
      for (std::int64_t i = mine; i < packs; i += lanes) packs_sum[i] = packs_a[i] + packs_b[i];
    }
  }
  const std::int64_t rest = packs * Pack<T>::size + lane;
  if (blockIdx.x == 0 && rest < n) sum[rest] = a[rest] + b[rest];
}

enum class Kernel { plain, wide, fill };

template <class T, Kernel kernel>
class Cuda final : public Part {
 public:
  Cuda(const VectorAdd& problem, const Context& context, const Shard& shard)
      : Part(context, shard), out_(queue(), rows().size()) {
    problem.require_device_memory();
    output(out_, 0);
    if constexpr (kernel != Kernel::fill) {
      a_ = {queue(), rows().size()};
      b_ = {queue(), rows().size()};
      input(a_, problem.a.values<T>(rows().begin, rows().end));
      input(b_, problem.b.values<T>(rows().begin, rows().end));
    }
  }
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 256, 1}, cuda::limits);
    launch_.tile = launch_.team * launch_.vector * (kernel == Kernel::wide ? packs_a_lane * Pack<T>::size : 1);
    if (launch_.league == 0) launch_.league = league_for(rows().size(), launch_.tile);
    return launch_;
  }
  void compute(Stages& stages) override {
    const dim3 block(launch_.vector, launch_.team);
    const cudaStream_t stream = cuda::stream(queue());
    stages.stage(queue(), kernel == Kernel::fill ? "fill" : "add", [&] {
      if constexpr (kernel == Kernel::plain)
        add_plain<<<launch_.league, block, 0, stream>>>(rows().size(), a_.data(), b_.data(), out_.data());
      if constexpr (kernel == Kernel::wide)
        add_wide<<<launch_.league, block, 0, stream>>>(rows().size(), a_.data(), b_.data(), out_.data());
      if constexpr (kernel == Kernel::fill)
        fill_index<<<launch_.league, block, 0, stream>>>(rows().size(), rows().begin, out_.data());
      cuda::check_launch();
    });
  }

 private:
  Launch launch_;
  cuda::Array<T> out_, a_, b_;
};

template <Kernel kernel>
std::unique_ptr<Prepared> prepare(const VectorAdd& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype, [&]<class T>() { return split<Cuda<T, kernel>>(problem, context); });
}

const Register<VectorAdd> plain{"plain", cuda::model, prepare<Kernel::plain>};
const Register<VectorAdd> wide{"wide", cuda::model, prepare<Kernel::wide>};
const Register<VectorAdd> filled{"fill", cuda::model, prepare<Kernel::fill>};

}  // namespace
}  // namespace league
