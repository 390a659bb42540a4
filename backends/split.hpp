// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace league {

/// The parts of a list between separators, "a", "" and "b" of "a,,b"; none of an empty one.
std::vector<std::string> split(const std::string& list, char separator);

}  // namespace league
