// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "algorithms/blocks/group_cuda.hpp"
#include "algorithms/cnn/gpu_shard.hpp"
#include "backends/cuda/cuda.hpp"

/// Launches of the kernels in CUDA; line beside line with `kokkos_launcher.hpp`.
namespace league::cnn::cuda_model {

// Teams of the kernel's own size; grid-stride loop over the items.
template <class Kernel, class State, class Memory, class Take>
__global__ void __launch_bounds__(Kernel::threads, cuda::launch_bound(Kernel::min_teams))
    run_items(State s, Memory memory, Take take, int items) {
  extern __shared__ Four scratch[];
  if (take.trains) take = s.now();
  for (int item = static_cast<int>(blockIdx.x); item < items; item += static_cast<int>(gridDim.x))
    Kernel::run(blocks::block_group(), s, memory, take, item, scratch->values);
}
// Persistent teams, each with one set of sums.
template <class Kernel, class State, class Memory>
__global__ void __launch_bounds__(Kernel::threads, cuda::launch_bound(Kernel::min_teams))
    run_teams(State s, Memory memory) {
  extern __shared__ Four scratch[];
  Kernel::run(blocks::block_group(), s, memory, s.now(), static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x),
              scratch->values);
}
// One element per thread.
template <class Body>
__global__ void run_elements(Body body, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) body(at);
}

struct Launcher {
  cudaStream_t stream;

  template <class Kernel, class State, class Memory, class Take>
  void items(int teams, const State& s, const Memory& memory, const Take& take, int items) const {
    run_items<Kernel><<<static_cast<unsigned>(teams), dim3(1, Kernel::threads), Kernel::scratch_bytes, stream>>>(
        s, memory, take, items);
    cuda::check_launch();
  }
  template <class Kernel, class State, class Memory>
  void teams(int teams, const State& s, const Memory& memory) const {
    run_teams<Kernel>
        <<<static_cast<unsigned>(teams), dim3(1, Kernel::threads), Kernel::scratch_bytes, stream>>>(s, memory);
    cuda::check_launch();
  }
  template <class Body>
  void elements(int count, const Body& body) const {
    constexpr int threads = 256;
    run_elements<<<static_cast<unsigned>((count + threads - 1) / threads), threads, 0, stream>>>(body, count);
    cuda::check_launch();
  }
};

struct Gpu {
  template <class T>
  using Array = cuda::Array<T>;
  Gpu(Runtime&, Queue& queue) : queue_(queue) {}
  [[nodiscard]] Launcher launcher() const { return {cuda::stream(queue_)}; }

 private:
  Queue& queue_;
};

}  // namespace league::cnn::cuda_model
