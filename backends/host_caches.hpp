// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace league {

/// Processors that this process may run on.
std::vector<int> allowed_processors();

/// Total size of the last-level caches of these processors, each cache counted once; 0 where the kernel does not tell.
/// `root`: where it lists the processors.
std::int64_t last_level_cache_bytes(const std::vector<int>& processors,
                                    const std::filesystem::path& root = "/sys/devices/system/cpu");

}  // namespace league
