// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace league {

/// Facts of the host that change times and are no hardware: `openmp_library`, `huge_pages` and `numa_balancing`, each
/// where the system says it. `root`: where the system's files are.
std::vector<std::pair<std::string, std::string>> host_settings(const std::filesystem::path& root = "/");

/// Why the OpenMP library is not that of the compiler, in a sentence; empty where it is.
std::string openmp_library_fault();

}  // namespace league
