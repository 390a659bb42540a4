// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace league {

/// f16 and bf16 are operands of tensor cores; no host array holds them.
enum class Dtype { f32, f64, i32, i64, u8, f16, bf16 };

std::string_view name(Dtype dtype);
constexpr std::size_t size_bytes(Dtype dtype) {
  if (dtype == Dtype::u8) return 1;
  if (dtype == Dtype::f16 || dtype == Dtype::bf16) return 2;
  return dtype == Dtype::f64 || dtype == Dtype::i64 ? 8 : 4;
}
/// @throws std::invalid_argument if no type has this name
Dtype dtype_from(std::string_view name);

template <class T>
inline constexpr Dtype dtype_of = [] {
  if constexpr (std::is_same_v<T, float>) return Dtype::f32;
  if constexpr (std::is_same_v<T, double>) return Dtype::f64;
  if constexpr (std::is_same_v<T, std::int32_t>) return Dtype::i32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Dtype::i64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Dtype::u8;
}();

/// The product of extents, in 64 bits. @throws std::overflow_error when it does not fit
std::int64_t checked_product(std::span<const std::int64_t> extents);

/// Host memory is too small for an array.
class OutOfHostMemory : public std::bad_alloc {
 public:
  explicit OutOfHostMemory(std::int64_t total_bytes) : total_bytes_(total_bytes) {}
  [[nodiscard]] const char* what() const noexcept override { return "out of host memory"; }
  /// Bytes of this array and of all existing ones.
  [[nodiscard]] std::int64_t total_bytes() const { return total_bytes_; }

 private:
  std::int64_t total_bytes_;
};

/// An array in host memory: its type, its shape [rows x ...] row-major, its values. Copies share the values.
class HostArray {
 public:
  HostArray() = default;
  /// Uninitialised; `memory` (pinned for access by a GPU) must outlive the array. @throws OutOfHostMemory
  HostArray(std::pmr::memory_resource& memory, Dtype dtype, std::vector<std::int64_t> shape);

  [[nodiscard]] Dtype dtype() const { return dtype_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t rows() const { return shape_.empty() ? 0 : shape_.front(); }
  [[nodiscard]] std::int64_t row_size() const { return rows() == 0 ? 0 : size_ / rows(); }
  [[nodiscard]] std::span<std::byte> bytes() { return {data_.get(), size_bytes_()}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), size_bytes_()}; }
  /// Total bytes of all arrays.
  [[nodiscard]] static std::int64_t total_bytes();

  /// All values, row-major. @throws std::logic_error if T is not the array's type
  template <class T>
  [[nodiscard]] std::span<T> values() {
    require(dtype_of<std::remove_const_t<T>>);
    return {reinterpret_cast<T*>(data_.get()), static_cast<std::size_t>(size_)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    require(dtype_of<std::remove_const_t<T>>);
    return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(size_)};
  }
  /// The values of rows [begin, end), relative to the array's first.
  template <class T>
  [[nodiscard]] std::span<T> values(std::int64_t begin, std::int64_t end) {
    return values<T>().subspan(static_cast<std::size_t>(begin * row_size()),
                               static_cast<std::size_t>((end - begin) * row_size()));
  }
  template <class T>
  [[nodiscard]] std::span<const T> values(std::int64_t begin, std::int64_t end) const {
    return values<T>().subspan(static_cast<std::size_t>(begin * row_size()),
                               static_cast<std::size_t>((end - begin) * row_size()));
  }

 private:
  void require(Dtype dtype) const;
  [[nodiscard]] std::size_t size_bytes_() const { return static_cast<std::size_t>(size_) * league::size_bytes(dtype_); }

  std::shared_ptr<std::byte> data_;
  Dtype dtype_ = Dtype::f32;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
};

}  // namespace league
