// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace league::bench {

/// The numbers of "0-3,8".
std::set<int> numbers_of(std::string_view list);

/// "0-3,8"
std::string list_of(const std::set<int>& numbers);

/// The processors that the threads of a parallel region may run on.
std::set<int> cores_here();

std::set<int> numa_nodes_of(const std::set<int>& cores);

/// These processors by kind: more than one of a hybrid processor, whose cores differ in speed. `root`: where the
/// system's files are.
std::vector<std::set<int>> kinds_of(const std::set<int>& cores, const std::filesystem::path& root = "/");

}  // namespace league::bench
