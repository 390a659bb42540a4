// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "algorithms/drivers/binding.hpp"

#include <algorithm>
#include <stdexcept>

namespace league {

Binding bind(const Outputs& arrays, const std::string& name, bool input, Range rows) {
  const auto found = std::ranges::find(arrays, name, &Output::name);
  if (found == arrays.end())
    throw std::logic_error(std::string("the problem has no ") + (input ? "input" : "result") + " named " + name);
  const std::int64_t row_size = found->values.row_size();
  return {.name = name,
          .input = input,
          .index = static_cast<std::size_t>(found - arrays.begin()),
          .size = rows.size() * row_size,
          .row_size = row_size,
          .host = input ? found->values : HostArray(),
          .rows = {rows.begin - found->rows.begin, rows.end - found->rows.begin}};
}

}  // namespace league
