// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstring>

#include "backends/array.hpp"
#include "backends/host_memory.hpp"
#include "backends/runtime.hpp"

namespace league::host {

/// An array of a host device, with the interface of `cuda::Array` and `kokkos::Array`. Uninitialised: first touch is by
/// `copy_from` and `poison` with the device's threads (NUMA).
template <class T>
class Array {
 public:
  using value_type = T;
  Array() = default;
  Array(Queue& queue, std::int64_t size)
      : threads_(queue.device().threads),
        array_(*std::pmr::get_default_resource(), dtype_of<T>, {size}),
        data_(array_.template values<T>().data()) {}

  static Array make(Runtime&, Queue& queue, const std::string& /*label*/, std::int64_t size) { return {queue, size}; }

  /// Shallow const, as for all device arrays.
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::int64_t size() const { return array_.size(); }

  /// @pre the array has room for the span from element `at` on
  void copy_from(std::span<const T> host, std::int64_t at = 0) {
    in_blocks(host.size(), [&](std::size_t begin, std::size_t count) {
      std::memcpy(data() + at + begin, host.data() + begin, count * sizeof(T));
    });
  }
  /// @pre the array has the span's values from element `at` on
  void copy_to(std::span<T> host, std::int64_t at = 0) const {
    in_blocks(host.size(), [&](std::size_t begin, std::size_t count) {
      std::memcpy(host.data() + begin, data() + at + begin, count * sizeof(T));
    });
  }
  /// Of `count` values from element `at` on (backends/host_memory.hpp).
  [[nodiscard]] std::uint64_t digest(std::int64_t at, std::int64_t count) const {
    return league::digest(std::as_bytes(std::span(data() + at, static_cast<std::size_t>(count))));
  }
  /// Sets all bytes to 0.
  void clear() { fill(0); }
  /// Sets all bytes to 0xff: NaN for floating types, -1 for signed integers.
  void poison() { fill(0xff); }

 private:
  void fill(int byte) {
    in_blocks(static_cast<std::size_t>(size()),
              [&](std::size_t begin, std::size_t count) { std::memset(data() + begin, byte, count * sizeof(T)); });
  }
  template <class Body>
  void in_blocks(std::size_t size, const Body& body) const {
    const std::size_t block = (size + static_cast<std::size_t>(threads_) - 1) / static_cast<std::size_t>(threads_);
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (int thread = 0; thread < threads_; ++thread) {
      const std::size_t begin = std::min(size, static_cast<std::size_t>(thread) * block);
      if (begin < size) body(begin, std::min(block, size - begin));
    }
  }
  int threads_ = 1;
  HostArray array_;
  T* data_ = nullptr;
};

}  // namespace league::host
