// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "backends/cuda/cuda.hpp"
#include "backends/host_memory.hpp"

namespace league::cuda {
namespace {

constexpr int digest_threads = 256, digest_blocks = 1024;

/// Threads take words in turn; the sums are exact in any order.
__global__ void add_digests(const unsigned char* bytes, std::size_t count, unsigned long long* sum) {
  const std::size_t words = (count + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::uint64_t mine = 0;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += stride)
    mine += digest_of(word_of(bytes, count, i), i);
  atomicAdd(sum, static_cast<unsigned long long>(mine));
}

}  // namespace

std::uint64_t digest(Queue& queue, std::span<const std::byte> bytes) {
  Array<std::int64_t> sum(queue, 1);
  sum.clear();
  const auto blocks = static_cast<int>(std::min<std::size_t>(bytes.size() / (8 * digest_threads) + 1, digest_blocks));
  add_digests<<<blocks, digest_threads, 0, stream(queue)>>>(reinterpret_cast<const unsigned char*>(bytes.data()),
                                                            bytes.size(),
                                                            reinterpret_cast<unsigned long long*>(sum.data()));
  check_launch();
  std::int64_t found = 0;
  sum.copy_to(std::span(&found, 1));
  queue.fence();
  return static_cast<std::uint64_t>(found);
}

}  // namespace league::cuda
