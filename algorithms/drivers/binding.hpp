// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "algorithms/contract/prepared.hpp"
#include "backends/pass.hpp"

namespace league {

/// One array of a kernel: the shard's rows of an input or of a result.
struct Binding {
  std::string name;
  bool input;
  std::size_t index;  ///< among the inputs or the results
  std::int64_t size;  ///< values of the shard
  std::int64_t row_size;
  HostArray host;  ///< for an input: all rows of this process
  Range rows;      ///< of the shard, relative to the first of `host`

  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    return host.values<const T>(rows.begin, rows.end);
  }
};

/// Finds an array by its name. @throws std::logic_error if there is none
Binding bind(const Outputs& arrays, const std::string& name, bool input, Range rows);

/// The arrays of a kernel with parameters `Views`, by name. @throws std::logic_error unless there is one name per
/// parameter
template <class... Views>
std::vector<Binding> bind(const Problem& problem, const Context& context, const Shard& shard,
                          const std::vector<std::string>& names) {
  if (names.size() != sizeof...(Views)) throw std::logic_error("a kernel needs one name per array");
  const Outputs inputs = problem.inputs();
  std::vector<Binding> bindings;
  ((bindings.push_back(bind(Viewed<Views>::input ? inputs : context.outputs, names[bindings.size()],
                            Viewed<Views>::input, shard.rows))),
   ...);
  return bindings;
}

}  // namespace league
