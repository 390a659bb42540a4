// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include "backends/backend.hpp"

namespace league {

/// "16.2 GB", "640 KB": for messages.
inline std::string readable_bytes(std::int64_t bytes) {
  constexpr std::array units{"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %s", value, units[unit]);
  return text.data();
}

/// @throws Unsupported "needs 16.2 GB, budget 11 GB" above the budget
inline void require_memory(std::int64_t needed_bytes, std::int64_t budget_bytes) {
  if (needed_bytes > budget_bytes)
    throw Unsupported("needs " + readable_bytes(needed_bytes) + ", budget " + readable_bytes(budget_bytes));
}

}  // namespace league
