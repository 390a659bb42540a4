// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/runtime.hpp"

namespace league {

/// The memory of one variant on one device. Arrays are declared first, so that their total is known before any is
/// allocated; then each is allocated separately.
class Ledger {
 public:
  Ledger(Runtime& runtime, Queue& queue, std::int64_t budget_bytes)
      : runtime_(runtime), queue_(queue), budget_bytes_(budget_bytes) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  /// Declares `array` with `size` values, or changes its size; `after` is called after each allocation;
  /// `queue`: of the array's copies and fills, null: the ledger's.
  /// @pre `array` is not moved, and outlives the ledger's calls
  template <class Array>
  void declare(Array& array, const std::string& label, std::int64_t size, std::function<void()> after = {},
               Queue* queue = nullptr) {
    const auto value_bytes = static_cast<std::int64_t>(sizeof(typename Array::value_type));
    enter({&array, label, size * value_bytes, false, [=, this, &array, after = std::move(after)](bool take) {
             array = Array();
             if (take) array = Array::make(runtime_, queue != nullptr ? *queue : queue_, label, size);
             if (take && after) after();
           }});
  }
  /// Total of all declared arrays.
  [[nodiscard]] std::int64_t bytes() const;
  /// The undeclared rest of the budget.
  [[nodiscard]] std::int64_t left_bytes() const { return budget_bytes_ - bytes(); }
  /// @throws Unsupported "needs 16.2 GB, budget 11 GB"
  void require_budget() const;
  /// Allocates what is declared and not yet allocated.
  /// @throws Unsupported as `require_budget`, or if the device is out of memory
  void allocate();

 private:
  struct Entry {
    const void* array;
    std::string label;
    std::int64_t bytes;
    bool there;
    std::function<void(bool)> set;  ///< allocates the memory, or frees it
  };
  void enter(Entry entry);

  Runtime& runtime_;
  Queue& queue_;
  std::int64_t budget_bytes_;
  std::vector<Entry> entries_;
};

}  // namespace league
