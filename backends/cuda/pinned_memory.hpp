// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory_resource>
#include <new>

#include "backends/cuda/cuda.hpp"
#include "backends/host_memory.hpp"

namespace league::cuda {

/// Page-locked host memory. `cudaHostAlloc` gets its pages with one thread, so that 1 GB takes 0.6 to 1 s; large blocks
/// are allocated by all threads and locked afterwards, which takes a tenth of it.
class PinnedMemory final : public std::pmr::memory_resource {
  static constexpr std::size_t large = std::size_t{4} << 20;

  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* data = bytes < large ? nullptr : allocate_pages(bytes);
    const cudaError_t status = data == nullptr
                                   ? cudaHostAlloc(&data, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable)
                                   : cudaHostRegister(data, bytes, cudaHostRegisterPortable);
    if (status == cudaSuccess) return data;
    if (bytes >= large) free_pages(static_cast<std::byte*>(data), bytes);
    if (status != cudaErrorMemoryAllocation) check(status);
    static_cast<void>(cudaGetLastError());  // of host memory
    throw std::bad_alloc();
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t) override {
    static_cast<void>(bytes < large ? cudaFreeHost(data) : cudaHostUnregister(data));
    if (bytes >= large) free_pages(static_cast<std::byte*>(data), bytes);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace league::cuda
