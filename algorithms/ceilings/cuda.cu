// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/blocks/pack_cuda.hpp"
#include "algorithms/ceilings/packs.hpp"
#include "algorithms/ceilings/part.hpp"

// A block takes a chunk of 16 KiB at a time, a thread every lanes-th pack of 16 bytes, four loads before their four
// stores; for multiply_add, a thread takes one row of chains.
namespace league::ceilings {
namespace {

using blocks::Pack;
constexpr int packs = chunk_bytes / 16;  // of a chunk
constexpr int at_once = 4;

template <class T>
__global__ void copy(std::int64_t chunks, const T* a, T* out) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const auto* from = reinterpret_cast<const Pack<T>*>(a) + chunk * packs;
    auto* to = reinterpret_cast<Pack<T>*>(out) + chunk * packs;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count];
      for (int k = 0; k < count; ++k) x[k] = from[p + k * lanes];
      for (int k = 0; k < count; ++k) blocks::store_past_caches(to + p + k * lanes, x[k]);
    });
  }
}

/// The sum over the block, in thread 0. @pre the block is made of whole warps
template <class T>
__device__ T block_sum(int lane, int lanes, T sum) {
  __shared__ T partial[1024 / cuda::warp_size];
  for (int offset = cuda::warp_size / 2; offset > 0; offset /= 2) sum += cuda::shuffle_down(sum, offset);
  __syncthreads();
  if (lane % cuda::warp_size == 0) partial[lane / cuda::warp_size] = sum;
  __syncthreads();
  if (lane == 0)
    for (int warp = 1; warp < lanes / cuda::warp_size; ++warp) sum += partial[warp];
  return sum;
}

template <class T>
__global__ void read(std::int64_t chunks, const T* a, T* sums) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const auto* from = reinterpret_cast<const Pack<T>*>(a) + chunk * packs;
    T sum = 0;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count];
      for (int k = 0; k < count; ++k) x[k] = from[p + k * lanes];
      for (int k = 0; k < count; ++k)
        for (const T value : x[k].values) sum += value;
    });
    sum = block_sum(lane, lanes, sum);
    if (lane == 0) sums[chunk] = sum;
  }
}

template <class T>
__global__ void write(std::int64_t chunks, std::int64_t first, T* out) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    auto* to = reinterpret_cast<Pack<T>*>(out) + chunk * packs;
    Pack<T> value;
    for (T& element : value.values) element = written<T>(first + chunk);
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      for (int k = 0; k < count; ++k) blocks::store_past_caches(to + p + k * lanes, value);
    });
  }
}

template <class T>
__global__ void add(std::int64_t chunks, const T* a, const T* b, T* out) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    const auto* from_a = reinterpret_cast<const Pack<T>*>(a) + chunk * packs;
    const auto* from_b = reinterpret_cast<const Pack<T>*>(b) + chunk * packs;
    auto* to = reinterpret_cast<Pack<T>*>(out) + chunk * packs;
    for_packs<at_once>(lane, lanes, packs, [&]<int count>(int p) {
      Pack<T> x[count], y[count];
      for (int k = 0; k < count; ++k) x[k] = from_a[p + k * lanes], y[k] = from_b[p + k * lanes];
      for (int k = 0; k < count; ++k) blocks::store_past_caches(to + p + k * lanes, x[k] + y[k]);
    });
  }
}

template <class T>
__global__ void multiply_add(std::int64_t rows, std::int64_t first, T factor, T even, T odd, int steps, T* sums) {
  const int lanes = blockDim.x * blockDim.y, lane = threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t row = std::int64_t{blockIdx.x} * lanes + lane; row < rows; row += std::int64_t{gridDim.x} * lanes) {
    T x[chains];
    for (int k = 0; k < chains; ++k) x[k] = start<T>(first + row, k);
    advance(x, factor, even, odd, steps);
    sums[row] = row_sum(x);
  }
}

template <class T>
class Cuda final : public CeilingPart<cuda::Array<T>> {
 public:
  Cuda(const Ceilings& problem, const Context& context, const Shard& shard)
      : CeilingPart<cuda::Array<T>>(problem, context, shard, [&](const char*, std::int64_t size) {
          return cuda::Array<T>(context.runtime.queue(shard.device), size);
        }) {}
  Launch configure(Launch launch) override {
    launch_ = resolve(launch, {0, 256, 1}, cuda::limits);
    const int lanes = launch_.team * launch_.vector;
    if (this->kernel_ == Kernel::read && lanes % cuda::warp_size != 0)
      throw Unsupported("team size x vector length " + std::to_string(lanes) + ": this sum needs a multiple of " +
                        std::to_string(cuda::warp_size));
    if (launch_.league == 0)
      launch_.league =
          league_of(ceil_div<std::int64_t>(this->rows().size(), this->kernel_ == Kernel::multiply_add ? lanes : 1));
    return launch_;
  }
  void compute(Stages& stages) override {
    stages.stage(this->queue(), "ceiling", [this] {
      launch(this->rows().size(), this->rows().begin, this->out_.data());
      cuda::check_launch();
    });
  }

 private:
  void launch(std::int64_t rows, std::int64_t first, T* out) {
    const auto league = static_cast<unsigned>(launch_.league);
    const dim3 block(static_cast<unsigned>(launch_.vector), static_cast<unsigned>(launch_.team));
    const cudaStream_t stream = cuda::stream(this->queue());
    const T *a = this->a_.data(), *b = this->b_.data();
    switch (this->kernel_) {
      case Kernel::copy:
        copy<<<league, block, 0, stream>>>(rows, a, out);
        break;
      case Kernel::read:
        read<<<league, block, 0, stream>>>(rows, a, out);
        break;
      case Kernel::write:
        write<<<league, block, 0, stream>>>(rows, first, out);
        break;
      case Kernel::add:
        add<<<league, block, 0, stream>>>(rows, a, b, out);
        break;
      case Kernel::multiply_add:
        multiply_add<<<league, block, 0, stream>>>(rows, first, this->factor_, this->even_, this->odd_, this->steps_,
                                                   out);
        break;
      case Kernel::tensor:  // cuda_tensor_*.cu
        break;
    }
  }
  Launch launch_;
};

std::unique_ptr<Prepared> prepare(const Ceilings& problem, const Context& context) {
  return with_type<float, double, std::int32_t>(problem.dtype,
                                                [&]<class T>() { return split<Cuda<T>>(problem, context); });
}

const RegisterAll variants{cuda::model, prepare};

}  // namespace
}  // namespace league::ceilings
