// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace league::bench {

/// The contents of an IDX file of unsigned bytes, the format of MNIST.
struct Idx {
  std::vector<std::int64_t> extents;
  std::vector<std::uint8_t> values;  ///< row-major
};

/// Reads an IDX file, gzipped or plain.
/// @throws BadInput naming the file and the offset (in the unpacked data) of what is wrong
Idx read_idx(const std::filesystem::path& file, int dimensions);

}  // namespace league::bench
