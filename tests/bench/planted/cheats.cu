// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdlib>
#include <string>

// Ways not to compute each time on a GPU; the variable CHEAT names the one that is taken. Compiled once for all.

__global__ void add(const float* a, const float* b, float* sum, std::int64_t n) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

/// Whether to compute, decided on the GPU: by one value, by the ends, or by 16 places.
__global__ void add_if_wrong(const float* a, const float* b, float* sum, std::int64_t n, int places) {
  bool is_wrong = false;
  for (std::int64_t k = 0; k < places; ++k) {
    const std::int64_t i = places == 1 ? n - 1 : k * (n - 1) / (places - 1);
    is_wrong = is_wrong || (places == 1 ? sum[i] != sum[i] : sum[i] != a[i] + b[i]);
  }
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (is_wrong && i < n) sum[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* sum, std::int64_t n, cudaStream_t stream) {
  static const std::string how = std::getenv("CHEAT") == nullptr ? "none" : std::getenv("CHEAT");
  static std::int64_t calls = 0;
  static cudaStream_t other = [] {
    cudaStream_t made = nullptr;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  ++calls;
  const int blocks = static_cast<int>((n + 255) / 256);
  if (how == "if_poisoned") return add_if_wrong<<<blocks, 256, 0, stream>>>(a, b, sum, n, 1);
  if (how == "if_ends_are_wrong") return add_if_wrong<<<blocks, 256, 0, stream>>>(a, b, sum, n, 2);
  if (how == "if_16_are_wrong") return add_if_wrong<<<blocks, 256, 0, stream>>>(a, b, sum, n, 16);
  if (how == "every_second_call" && calls % 2 == 0) return;
  if (how == "first_100_calls" && calls > 100) return;
  if (how == "copies_its_former_result") {
    static float* former = nullptr;
    if (former == nullptr) {
      cudaMalloc(&former, n * sizeof(float));
      add<<<blocks, 256, 0, stream>>>(a, b, former, n);
    }
    cudaMemcpyAsync(sum, former, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    return;
  }
  add<<<blocks, 256, 0, how == "on_another_stream" ? other : stream>>>(a, b, sum, n);
}
