// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "backends/split.hpp"

#include <sstream>

namespace league {

std::vector<std::string> split(const std::string& list, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(list);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace league
