// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <span>

namespace league::python {

/// Memory shared with a worker process. Anonymous, so that nothing is left behind, however both end.
class SharedMemory {
 public:
  /// @throws std::bad_alloc if out of memory
  explicit SharedMemory(std::size_t size);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  /// Descriptor of the file behind it.
  [[nodiscard]] int file() const { return file_; }

 private:
  std::size_t size_;
  int file_ = -1;
  std::byte* data_ = nullptr;
};

}  // namespace league::python
