// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/writing.hpp"

#include <set>
#include <stdexcept>

namespace league {

std::string_view name(Bodies bodies) {
  static constexpr std::string_view names[] = {"one", "numbers", "several"};
  return names[static_cast<std::size_t>(bodies)];
}

void require_valid(const Writing& writing, const std::string& variant) {
  if (writing.bodies == Bodies::numbers && writing.numbers.empty())
    throw std::invalid_argument(variant + ": one body with numbers, but no numbers; without any it has one body");
  if (writing.bodies != Bodies::numbers && !writing.numbers.empty())
    throw std::invalid_argument(variant + ": numbers, but its bodies are '" + std::string(name(writing.bodies)) + "'");
  for (const auto& [dtype, numbers] : writing.numbers) {
    const std::string of = variant + ": " + std::string(name(dtype)) + " has ";
    if (numbers.empty() || numbers.size() > max_numbers)
      throw std::invalid_argument(of + std::to_string(numbers.size()) + " numbers; 1 to " +
                                  std::to_string(max_numbers) + " are allowed");
    std::set<std::string> names;
    for (const auto& [number, value] : numbers) {
      if (number.empty() || !names.insert(number).second)
        throw std::invalid_argument(of + "two numbers, or none, named '" + number + "'; each needs a name of its own");
      if (value < 1)
        throw std::invalid_argument(of + number + " = " + std::to_string(value) + "; numbers are positive");
    }
  }
}

}  // namespace league
