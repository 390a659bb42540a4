// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory_resource>

namespace league::tests {

/// Counts the bytes that arrays of host devices take, for as long as it lives.
class Heap final : public std::pmr::memory_resource {
 public:
  Heap() : before_(std::pmr::set_default_resource(this)) {}
  ~Heap() override { std::pmr::set_default_resource(before_); }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  std::int64_t bytes = 0, max_bytes = 0;

 private:
  void* do_allocate(std::size_t size, std::size_t alignment) override {
    bytes += static_cast<std::int64_t>(size);
    max_bytes = std::max(max_bytes, bytes);
    return std::pmr::new_delete_resource()->allocate(size, alignment);
  }
  void do_deallocate(void* data, std::size_t size, std::size_t alignment) override {
    bytes -= static_cast<std::int64_t>(size);
    std::pmr::new_delete_resource()->deallocate(data, size, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  std::pmr::memory_resource* before_;
};

}  // namespace league::tests
