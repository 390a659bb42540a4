// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <gpu_dialect.hpp>
#include <source_location>
#include <span>
#include <string>
#include <utility>

#include "backends/launch.hpp"
#include "backends/runtime.hpp"

/// Host-side CUDA (or, through the dialect, HIP) for raw CUDA variants.
namespace league::cuda {

inline constexpr Model model{dialect, dialect, DeviceKind::gpu};
/// A library's model on the same devices: "cub", "cublas".
constexpr Model library(std::string_view name) { return {name, dialect, DeviceKind::gpu}; }
/// Maximum threads per block, and lanes that can shuffle together.
inline const LaunchLimits limits{1024, warp_size, dialect};

/// @throws OutOfMemory or std::runtime_error naming the call's place
void check(cudaError_t status, std::source_location where = std::source_location::current());
/// Checks a launch. @throws std::runtime_error if it failed
inline void check_launch(std::source_location where = std::source_location::current()) {
  check(cudaGetLastError(), where);
}

/// Checks the size of dynamic shared memory, to be used with `allow_scratch`. @throws Unsupported as
/// `league::require_scratch`
inline void require_scratch(const cudaDeviceProp& properties, std::size_t bytes, const std::string& what) {
  league::require_scratch(bytes, max_scratch(properties), what);
}

/// Makes the queue's device the current one and returns its stream.
cudaStream_t stream(Queue& queue);
/// The properties of the queue's device, which becomes the current one.
inline cudaDeviceProp properties(Queue& queue) {
  stream(queue);
  cudaDeviceProp found{};
  check(cudaGetDeviceProperties(&found, queue.device().index));
  return found;
}

/// As `league::digest`, of bytes in the memory of the queue's device, whose work so far is waited for.
std::uint64_t digest(Queue& queue, std::span<const std::byte> bytes);

/// An array in the memory of the queue's device; copies and fills are asynchronous on the queue.
template <class T>
class Array {
 public:
  using value_type = T;
  Array() = default;
  Array(Queue& queue, std::int64_t size) : queue_(&queue), size_(size) {
    stream(queue);
    if (size > 0) check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
  }
  static Array make(Runtime&, Queue& queue, const std::string& /*label*/, std::int64_t size) { return {queue, size}; }
  /// Managed memory: pages migrate on access.
  static Array managed(Runtime&, Queue& queue, const std::string& /*label*/, std::int64_t size) {
    Array array;
    array.queue_ = &queue;
    array.size_ = size;
    stream(queue);
    if (size > 0) check(cudaMallocManaged(reinterpret_cast<void**>(&array.data_), array.bytes(), cudaMemAttachGlobal));
    return array;
  }
  Array(Array&& other) noexcept { *this = std::move(other); }
  Array& operator=(Array&& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() { static_cast<void>(cudaFree(data_)); }

  /// Shallow const, as for all device arrays.
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

  /// @pre the array has room for the span from element `at` on; the span is valid until the queue is fenced
  void copy_from(std::span<const T> host, std::int64_t at = 0) { copy(data_ + at, host.data(), host.size_bytes()); }
  /// @pre the array has the span's values from element `at` on; the span is valid until the queue is fenced
  void copy_to(std::span<T> host, std::int64_t at = 0) const { copy(host.data(), data_ + at, host.size_bytes()); }
  /// Of `count` values from element `at` on; synchronous.
  [[nodiscard]] std::uint64_t digest(std::int64_t at, std::int64_t count) const {
    return count > 0 ? cuda::digest(*queue_, std::as_bytes(std::span(data_ + at, static_cast<std::size_t>(count)))) : 0;
  }
  /// Sets all bytes to 0.
  void clear() const {
    if (size_ > 0) check(cudaMemsetAsync(data_, 0, bytes(), stream(*queue_)));
  }
  /// Sets all bytes to 0xff: NaN for floating types, -1 for signed integers.
  void poison() {
    if (size_ > 0) check(cudaMemsetAsync(data_, 0xff, bytes(), stream(*queue_)));
  }
  /// Moves the pages to the queue's device. @pre managed
  void prefetch() {
    if (size_ > 0) check(cuda::prefetch(data_, bytes(), queue_->device().index, stream(*queue_)));
  }

 private:
  void copy(void* to, const void* from, std::size_t count) const {
    if (count > 0) check(cudaMemcpyAsync(to, from, count, cudaMemcpyDefault, stream(*queue_)));
  }
  Queue* queue_ = nullptr;
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace league::cuda
