// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>

#include "backends/array.hpp"

namespace league::bench {

/// Writes an array as NumPy reads it (format version 1.0), in its type and shape, row-major.
/// @throws std::runtime_error if it cannot be written whole
void write_npy(const std::filesystem::path& file, const HostArray& array);

}  // namespace league::bench
