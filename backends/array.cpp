// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/array.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "backends/host_limits.hpp"

namespace league {
namespace {

constexpr std::array<std::string_view, 7> dtype_names{"f32", "f64", "i32", "i64", "u8", "f16", "bf16"};
constexpr std::size_t alignment = 64;
constexpr std::size_t large = std::size_t{1} << 26;  // takes far longer to touch than limits to read

std::atomic<std::int64_t> all_bytes = 0;  // of arrays

std::byte* allocate(std::pmr::memory_resource& memory, std::size_t count) {
  try {
    if (count >= large && static_cast<std::int64_t>(count) > free_host_memory().free_bytes) throw std::bad_alloc();
    auto* data = static_cast<std::byte*>(memory.allocate(count, alignment));
    all_bytes += static_cast<std::int64_t>(count);
    return data;
  } catch (const std::bad_alloc&) {
    throw OutOfHostMemory(all_bytes + static_cast<std::int64_t>(count));
  }
}

void deallocate(std::pmr::memory_resource& memory, std::byte* data, std::size_t count) {
  all_bytes -= static_cast<std::int64_t>(count);
  memory.deallocate(data, count, alignment);
}

}  // namespace

std::string_view name(Dtype dtype) { return dtype_names[static_cast<std::size_t>(dtype)]; }

Dtype dtype_from(std::string_view name) {
  const auto found = std::ranges::find(dtype_names, name);
  if (found == dtype_names.end())
    throw std::invalid_argument("no type is named '" + std::string(name) + "': f32, f64, i32, i64, u8, f16, bf16 are");
  return static_cast<Dtype>(found - dtype_names.begin());
}

std::int64_t checked_product(std::span<const std::int64_t> extents) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product))
      throw std::overflow_error("the product of the extents does not fit 64 bits");
  return product;
}

HostArray::HostArray(std::pmr::memory_resource& memory, Dtype dtype, std::vector<std::int64_t> shape)
    : dtype_(dtype), shape_(std::move(shape)), size_(checked_product(shape_)) {
  const std::array extents{size_, static_cast<std::int64_t>(size_bytes(dtype))};
  const auto count = static_cast<std::size_t>(checked_product(extents));
  data_ = std::shared_ptr<std::byte>(allocate(memory, count),
                                     [&memory, count](std::byte* data) { deallocate(memory, data, count); });
}

std::int64_t HostArray::total_bytes() { return all_bytes; }

void HostArray::require(Dtype dtype) const {
  if (dtype != dtype_)
    throw std::logic_error("an array of " + std::string(league::name(dtype_)) + " is accessed as " +
                           std::string(league::name(dtype)));
}

}  // namespace league
