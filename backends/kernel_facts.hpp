// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace league {

/// A kernel as a graph launches it: its launch, and what compiler and device make of it.
struct KernelFacts {
  std::string name;  ///< mangled, as in the object file
  std::array<unsigned, 3> grid{}, block{};
  int registers = 0;              ///< of a thread
  std::int64_t local_bytes = 0;   ///< of a thread: its stack, and what was spilled
  std::int64_t shared_bytes = 0;  ///< of a block, static and dynamic
  int resident_blocks = 0;        ///< on a multiprocessor, at most
  int count = 1;                  ///< launches of it

  [[nodiscard]] bool same_launch(const KernelFacts& other) const {
    return name == other.name && grid == other.grid && block == other.block && shared_bytes == other.shared_bytes;
  }
};

}  // namespace league
