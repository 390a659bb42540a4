// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/contract/making.hpp"

#include <charconv>
#include <stdexcept>

namespace league {

void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

std::int64_t Parameters::integer(std::string_view name) const { return std::stoll(choice(name)); }

double Parameters::real(std::string_view name) const {
  const std::string& text = choice(name);  // std::stod throws below the normal range
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
    throw std::logic_error("'" + text + "' of '" + std::string(name) + "' is not a number");
  return value;
}

const std::string& Parameters::choice(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) throw std::logic_error("no parameter '" + std::string(name) + "' in this case");
  return found->second;
}

}  // namespace league
